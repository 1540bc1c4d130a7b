import type { Outcome, RuntimeString, RuntimeValue, StepInvocation } from "@steps/model";
import { ExecuteError } from "./execute-error.ts";
import { expandEnv, expandName } from "./expand-env.ts";
import { createExpander, escapePointer } from "./expander.ts";
import { checkInputNames, type Inputs, resolveInputs } from "./inputs.ts";
import { type Level, scopeOf } from "./level.ts";
import { outcomeOfAbort, outcomeOfError } from "./outcome.ts";
import { isScript, type OpenedStep, openReference, resolveReference } from "./resolve-reference.ts";
import { type Run, tell } from "./run.ts";
import { runDefinition } from "./run-definition.ts";
import { withoutCredentials } from "./secret-reference.ts";
import { endWithout, type StepEnd } from "./step-end.ts";
import { StepFiles } from "./step-files.ts";

/** Steps that call steps deeper than this call themselves. */
const MAX_DEPTH = 100;

/** One item of a level's list. */
interface Call {
  readonly caller: Level;
  readonly invocation: StepInvocation;
  readonly path: string;
  /** Of the invocation within the caller's SpecDefinition. */
  readonly pointer: string;
  /** The called step's own. */
  readonly files: StepFiles;
}

/** Runs one item of a list: fetch and compile it, give it its inputs, run it. Says so from its first event to its last. */
export async function runStep(run: Run, caller: Level, index: number, invocation: StepInvocation): Promise<StepEnd> {
  const path = caller.path === "" ? String(index) : `${caller.path}/${index}`;
  const files = new StepFiles(run.request.jobTmp);
  const call: Call = { caller, invocation, path, pointer: `/definition/steps/${index}`, files };
  tell(run, {
    type: "step-opened",
    at: Date.now(),
    path,
    name: invocation.name,
    reference: withoutCredentials(invocation.step),
  });
  let end: StepEnd;
  try {
    end = await runCall(run, call);
  } finally {
    files.remove();
  }
  finishStep(run, path, end);
  return end;
}

/** The last event of a step. */
export function finishStep(run: Run, path: string, end: StepEnd): void {
  const { status, error } = end.outcome;
  tell(run, {
    type: "step-finished",
    at: Date.now(),
    path,
    status,
    ...end.process,
    ...(error === undefined ? {} : { error }),
    outputs: end.outputs,
    // A composite's exports are those of its processes, which have told them.
    exports: end.process === undefined ? {} : end.exports,
    ...(end.delegateOf === undefined ? {} : { delegateOf: end.delegateOf }),
  });
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

/** Turns what a step throws into its end. */
export async function guard(run: Run, body: () => Promise<StepEnd>): Promise<StepEnd> {
  try {
    return await body();
  } catch (error) {
    return endWithout(outcomeOfThrown(run, error, "run"));
  }
}

function outcomeOfThrown(run: Run, error: unknown, phase: "load" | "run"): Outcome {
  if (run.observeFailure) throw run.observeFailure.error;
  if (run.signal.aborted && phase === "load") return outcomeOfAbort(run.signal.reason);
  return outcomeOfError(error, phase);
}

async function open(run: Run, call: Call): Promise<OpenedStep> {
  const { caller, invocation, path, pointer } = call;
  if (caller.depth >= MAX_DEPTH) {
    throw new ExecuteError("RECURSION_TOO_DEEP", `steps are nested more than ${MAX_DEPTH} levels deep`);
  }
  const expander = createExpander(run, () => scopeOf(run, caller), { path, source: caller.source });
  const reference = resolveReference(invocation.step, expander, `${pointer}/step/pathExp`);
  const opened = await openReference(run, reference, {
    caller,
    path,
    pointer: `${pointer}/step`,
    inputNames: Object.keys(invocation.inputs),
  });
  const { component, fetch = { isHit: true, bytes: 0, durationMs: 0 } } = opened;
  if (component) tell(run, { type: "component-resolved", at: Date.now(), path, resource: component, fetch });
  return opened;
}

async function enter(run: Run, call: Call, opened: OpenedStep): Promise<StepEnd> {
  const { caller, path, files } = call;
  const { reference, specDefinition } = opened;
  const given = expandInvocation(run, call, opened);
  const inputs = resolveInputs(given.inputs, specDefinition.spec);
  const seesCaller = reference.kind === "inline" && reference.seesCallerInputs;
  const level: Level = {
    path,
    depth: caller.depth + 1,
    inputs: seesCaller ? caller.inputs : inputs,
    environment: caller.environment.with(given.env),
    steps: Object.create(null) as Level["steps"],
    files,
    dir: opened.dir,
    root: opened.root,
    source: opened.source,
  };
  return runDefinition(run, level, { opened, inputs, invocation: given, hasOpenOutputs: seesCaller, runStep });
}

interface Given {
  readonly inputs: Inputs;
  readonly env: Readonly<Record<string, RuntimeString>>;
}

// The invocation's env comes first and is visible to its inputs.
function expandInvocation(run: Run, call: Call, opened: OpenedStep): Given {
  const { caller, invocation, path, pointer } = call;
  const { spec } = opened.specDefinition;
  // A script has no other way to learn of its files than what is pasted into it (`steps-language` 4).
  const own = isScript(opened.reference) ? { files: call.files } : {};
  const options = { path, source: caller.source };
  const names = Object.keys(invocation.inputs);
  const hasDynamicNames = names.some((name) => name.includes("${{"));
  if (!hasDynamicNames) checkInputNames(names, spec);
  const env = expandEnv(
    createExpander(run, () => scopeOf(run, caller, own), options),
    invocation.env,
    pointer,
  );
  const environment = caller.environment.with(env);
  const expander = createExpander(run, () => scopeOf(run, caller, { ...own, environment }), options);
  const keys = names.map((name) => [name, hasDynamicNames ? expandName(expander, name, "input") : name] as const);
  if (hasDynamicNames) {
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
  return { inputs, env };
}
