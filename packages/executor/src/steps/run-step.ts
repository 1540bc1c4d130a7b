import { setTimeout } from "node:timers/promises";
import type { RuntimeString, RuntimeValue } from "@steps/model";
import { emptySpec, type StepInvocation } from "@steps/model/definition";
import { isNamed, kindOf } from "@steps/model/kinds";
import { escapePointer } from "@steps/model/value";
import { signalWithTimeout } from "../outcome/cancelled.ts";
import { ExecuteError } from "../outcome/execute-error.ts";
import { expandEnv, expandName } from "../values/expand-env.ts";
import { createExpander } from "../values/expander.ts";
import { checkInputNames, type Inputs, resolveInputs } from "../values/inputs.ts";
import { type Level, placesOf, scopeOf } from "../run/level.ts";
import { guard, outcomeOfThrown, runToldStep } from "../run/told-step.ts";
import { isSuccess, outcomeOfAbort } from "../outcome/outcome.ts";
import { leakReporter } from "../values/report-leak.ts";
import type { OpenedStep } from "../run/opened-step.ts";
import { inPlace, isScript, openReference, resolveReference } from "./resolve-reference.ts";
import { actionsOf } from "../run/actions-of.ts";
import { type Run, tell } from "../run/run.ts";
import { literalInputs } from "../values/literal-inputs.ts";
import { runDefinition } from "./run-definition.ts";
import { checkSecretNames, expandSecrets, resolveSecrets } from "../values/secrets.ts";
import { withoutCredentials } from "../values/secret-reference.ts";
import { childPath } from "../lists/step-list.ts";
import type { RunStep } from "../lists/step-language.ts";
import { endWithout, type StepEnd } from "../outcome/step-end.ts";
import { StepFiles } from "../run/step-files.ts";

/** Steps that call steps deeper than this call themselves. */
const MAX_DEPTH = 100;

/** One item of a level's list. */
interface Call {
  readonly caller: Level;
  readonly invocation: StepInvocation;
  readonly path: string;
  /** The path of the item in its list; the path of an attempt is below it. */
  readonly itemPath: string;
  /** The JSON pointer to the invocation within the caller's SpecDefinition. */
  readonly pointer: string;
  /** The files of the called step. */
  readonly files: StepFiles;
}

/**
 * Runs one item of a list whose condition holds: fetch and compile it, give it its inputs, run it, as often and as long as it
 * may.
 */
export const runStep: RunStep = async (run, caller, { invocation, path, pointer }) => {
  const files = filesOf(run);
  try {
    return await runControlled(run, { caller, invocation, path, itemPath: path, pointer, files });
  } finally {
    files.remove();
  }
};

// Whatever a step leaves running may still write to its files.
function filesOf({ jobTmp, left, spareFiles }: Run): StepFiles {
  return new StepFiles(jobTmp, left === undefined ? spareFiles : undefined);
}

async function runControlled(run: Run, call: Call): Promise<StepEnd> {
  const { timeoutMs, retry } = call.invocation.control ?? {};
  if (retry !== undefined) return runAttempts(run, call, retry);
  if (timeoutMs === undefined) return runCall(run, call);
  const stop = signalWithTimeout(run.signal, timeoutMs);
  try {
    return await runCall({ ...run, signal: stop.signal }, call);
  } finally {
    stop.release();
  }
}

const MAX_BACKOFF_MS = 3_600_000;

/** Runs a step until it succeeds. Each attempt is a child of it, so that the trace has them all. */
async function runAttempts(
  run: Run,
  call: Call,
  { max, backoffMs }: { readonly max: number; readonly backoffMs: number },
): Promise<StepEnd> {
  const { retry: _, ...control } = call.invocation.control ?? {};
  const invocation: StepInvocation = { ...call.invocation, control };
  planAttempts(run, call, invocation);
  for (let attempt = 0; ; attempt++) {
    const end = await runAttempt(run, { ...call, invocation, path: childPath(call.path, attempt) });
    const { process: _process, ...outcome } = end;
    if (isSuccess(end.outcome.status) || attempt === max || run.signal.aborted) return outcome;
    if (!(await pause(Math.min(backoffMs * 2 ** attempt, MAX_BACKOFF_MS), run.signal))) return outcome;
  }
}

function runAttempt(run: Run, call: Call): Promise<StepEnd> {
  const { path, invocation } = call;
  const reference = withoutCredentials(invocation.step);
  return runToldStep(run, { path, name: invocation.name, reference }, async () => {
    const files = filesOf(run);
    try {
      return await runControlled(run, { ...call, files });
    } finally {
      files.remove();
    }
  });
}

function planAttempts(run: Run, { caller, path, files }: Call, invocation: StepInvocation): void {
  const definition = { type: "steps", steps: [invocation], env: {}, outputs: {} } as const;
  const specDefinition = { spec: { ...emptySpec, hasOpenOutputs: true }, definition };
  const { definitionDigest } = inPlace(specDefinition, caller);
  tell(run, {
    type: "step-planned",
    at: Date.now(),
    path,
    specDefinition,
    definitionDigest,
    subpath: "",
    inputs: {},
    invocation: { inputs: {}, env: {} },
    definitionEnv: {},
    places: placesOf(run, { dir: caller.dir, files }),
  });
}

/** Says whether the time passed without an abort. */
async function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    if (ms > 0) await setTimeout(ms, undefined, { signal });
    return !signal.aborted;
  } catch {
    return false;
  }
}

async function runCall(run: Run, call: Call): Promise<StepEnd> {
  let opened: OpenedStep;
  try {
    opened = await open(run, call);
  } catch (error) {
    return endWithout(outcomeOfThrown(run, error, error instanceof ExecuteError ? "run" : "load"));
  }
  if (run.signal.aborted) return endWithout(outcomeOfAbort(run.signal.reason));
  return guard(run, () => enter(run, call, opened));
}

async function open(run: Run, call: Call): Promise<OpenedStep> {
  const { caller, invocation, path, pointer } = call;
  if (caller.depth >= MAX_DEPTH) {
    throw new ExecuteError("RECURSION_TOO_DEEP", `steps are nested more than ${MAX_DEPTH} levels deep`);
  }
  const expander = createExpander(run, () => scopeOf(run, caller), { path, source: caller.source });
  const reference = resolveReference(invocation.step, expander, `${pointer}/step/pathExp`);
  const takesEnv = isNamed(reference) && kindOf(reference).takesStepEnv === true;
  const opened = await openReference(run, reference, {
    caller,
    path,
    pointer: `${pointer}/step`,
    inputNames: Object.keys(invocation.inputs),
    ...(reference.kind === "action" ? { knownInputs: literalInputs(invocation) } : {}),
    // The credentials of a registry may be the step's own.
    env: takesEnv ? expandEnv(expander, invocation.env, pointer) : {},
  });
  const { component, fetch = { isHit: true, bytes: 0, durationMs: 0 } } = opened;
  if (component) tell(run, { type: "component-resolved", at: Date.now(), path, resource: component, fetch });
  return opened;
}

async function enter(run: Run, call: Call, opened: OpenedStep): Promise<StepEnd> {
  const { caller, path, files } = call;
  const { reference, specDefinition } = opened;
  const given = expandInvocation(run, call, opened);
  if (specDefinition.definition.github !== undefined) {
    const environment = caller.environment.with(given.env);
    const { invocation, itemPath } = call;
    const actions = await actionsOf(run);
    return actions.runItem(
      run,
      { path, environment },
      { path: itemPath, invocation, opened, given: given.inputs, env: given.env },
    );
  }
  const inputs = await resolveInputs(given.inputs, specDefinition.spec, { onLeak: leakReporter(run, path) });
  const seesCaller = reference.kind === "inline" && reference.seesCallerInputs;
  const granted = resolveSecrets(given.secrets, specDefinition.spec);
  const level: Level = {
    path,
    depth: caller.depth + 1,
    inputs: seesCaller ? caller.inputs : inputs,
    environment: caller.environment.with(given.env),
    steps: Object.create(null) as Level["steps"],
    files,
    secrets: seesCaller ? caller.secrets : granted.secrets,
    granted: granted.granted,
    dir: opened.dir,
    root: opened.root,
    isFetched: caller.isFetched || opened.root !== undefined,
    source: opened.source,
  };
  return runDefinition(run, level, { opened, inputs, invocation: given, hasOpenOutputs: seesCaller, runStep });
}

interface Given {
  readonly inputs: Inputs;
  readonly env: Readonly<Record<string, RuntimeString>>;
  readonly secrets: Readonly<Record<string, RuntimeValue>>;
}

// The invocation's env comes first and is visible to its inputs.
function expandInvocation(run: Run, call: Call, opened: OpenedStep): Given {
  const { caller, invocation, path, pointer } = call;
  const { spec, definition } = opened.specDefinition;
  // An action takes whatever it is given, and says what it does not know.
  const isAction = definition.github !== undefined;
  // A script has no other way to learn of its files than what is pasted into it (conformance section 4).
  const own = isScript(opened.reference) ? { files: call.files } : {};
  const options = { path, source: caller.source };
  const names = Object.keys(invocation.inputs);
  const hasDynamicNames = names.some((name) => name.includes("${{"));
  if (!hasDynamicNames && !isAction) checkInputNames(names, spec);
  checkSecretNames(Object.keys(invocation.secrets ?? {}), spec);
  const env = expandEnv(
    createExpander(run, () => scopeOf(run, caller, own), options),
    invocation.env,
    pointer,
  );
  const environment = caller.environment.with(env);
  const expander = createExpander(run, () => scopeOf(run, caller, { ...own, environment }), options);
  const expandsNames = hasDynamicNames && !isAction;
  const keys = names.map((name) => [name, expandsNames ? expandName(expander, name, "input") : name] as const);
  if (expandsNames) {
    checkInputNames(
      keys.map(([, key]) => key),
      spec,
    );
  }
  const inputs = Object.create(null) as Record<string, RuntimeValue>;
  for (const [name, key] of keys) {
    const place = { what: `input "${key}"`, pointer: `${pointer}/inputs/${escapePointer(name)}` };
    inputs[key] = expander.value(invocation.inputs[name] ?? null, place);
  }
  return { inputs, env, secrets: expandSecrets(expander, invocation.secrets ?? {}, pointer) };
}
