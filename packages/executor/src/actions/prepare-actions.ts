import {
  type ActionReference,
  formatAction,
  isStepsError,
  messageOf,
  printable,
  type RuntimeString,
  type RuntimeValue,
  type StepInvocation,
  StepsError,
} from "@steps/model";
import { ExecuteError } from "../execute-error.ts";
import { literalInputs } from "../literal-inputs.ts";
import { type OpenedStep, openReference } from "../resolve-reference.ts";
import { isSuccess } from "../outcome.ts";
import type { Run } from "../run.ts";
import type { StepEnd } from "../step-end.ts";
import { checkContainers } from "./container.ts";
import { type ActionInstance, createInstance, tellPlan } from "./action-instance.ts";
import type { ActionScope } from "./action-scope.ts";
import { allowsFailure, invocationOf, titleOf } from "./action-steps.ts";
import { type PostEntry, runPhase } from "./post-steps.ts";
import { putAside, runPhaseOf } from "./run-action.ts";

/** A list of the job's own that may name actions. */
export interface PreparedList {
  readonly invocations: readonly StepInvocation[];
  readonly dir: string;
  readonly root: string | undefined;
}

/** An action that is there, with those its steps name. */
interface Prepared {
  readonly invocation: StepInvocation;
  readonly opened: OpenedStep;
  readonly path: string;
  readonly nested: readonly Prepared[];
}

const MAX_DEPTH = 12;

/**
 * Brings every action of the job here, with all that its composite actions name, before anything runs. Actions in the
 * workspace are looked at when their turn comes, since steps may make them. All that is missing is said at once.
 *
 * @throws {StepsError} REFERENCE_INVALID if the author has to mend something, else the code of the first that cannot be had
 */
export async function prepareActions(run: Run, list: PreparedList): Promise<readonly Prepared[]> {
  const problems: Problem[] = [];
  const prepared = await prepareList(run, list, { path: "", depth: 0, problems });
  if (prepared.some(usesDocker)) {
    const problem = await checkContainers(run);
    if (problem !== undefined) problems.push({ message: problem, code: "REFERENCE_INVALID" });
  }
  if (problems.length > 0) throw errorOf(problems);
  return prepared;
}

interface Problem {
  readonly message: string;
  readonly code: string;
  readonly hint?: string | undefined;
}

// A network that is down is nothing that the author could mend, so it is told apart.
function errorOf(problems: readonly Problem[]): StepsError {
  const message = `actions: ${[...new Set(problems.map((problem) => problem.message))].join("; ")}`;
  const hints = [...new Set(problems.flatMap((problem) => problem.hint ?? []))];
  const hint = hints.length === 0 ? undefined : hints.join(" ");
  const [first] = problems;
  return first !== undefined && problems.every(({ code }) => UNAVAILABLE.has(code))
    ? new StepsError(first.code, printable(message), { hint })
    : new ExecuteError("REFERENCE_INVALID", message, { hint });
}

const UNAVAILABLE: ReadonlySet<string> = new Set(["TRANSPORT", "OFFLINE", "AUTH_FAILED", "GIT_MISSING"]);

interface Walk {
  readonly path: string;
  readonly depth: number;
  readonly problems: Problem[];
}

async function prepareList(run: Run, list: PreparedList, walk: Walk): Promise<Prepared[]> {
  const found: Prepared[] = [];
  for (const [index, invocation] of list.invocations.entries()) {
    const path = walk.path === "" ? String(index) : `${walk.path}/${index}`;
    const { step } = invocation;
    if (step.kind === "inline" && step.specDefinition.definition.type === "steps") {
      const { steps, finally: last = [] } = step.specDefinition.definition;
      await prepareList(run, { ...list, invocations: [...steps, ...last] }, { ...walk, path, depth: walk.depth + 1 });
    }
    if (step.kind !== "action" || step.source === "workspace") continue;
    const prepared = await prepareOne(run, list, { invocation, step, walk: { ...walk, path } });
    if (prepared !== undefined) found.push(prepared);
  }
  return found;
}

async function prepareOne(
  run: Run,
  list: PreparedList,
  item: { readonly invocation: StepInvocation; readonly step: ActionReference; readonly walk: Walk },
): Promise<Prepared | undefined> {
  const { invocation, step, walk } = item;
  try {
    const opened = await openReference(run, step, {
      caller: { ...list, environment: run.request.environment, source: { pointer: "", positionOf: undefined } },
      path: walk.path,
      pointer: "",
      inputNames: Object.keys(invocation.inputs),
      knownInputs: literalInputs(invocation),
      env: {},
    });
    const { definition } = opened.specDefinition;
    const inner = { dir: opened.dir, root: opened.root };
    const nested =
      definition.type === "steps" && walk.depth < MAX_DEPTH
        ? await prepareList(run, { ...inner, invocations: definition.steps }, { ...walk, depth: walk.depth + 1 })
        : [];
    return { invocation, opened, path: walk.path, nested };
  } catch (error) {
    if (run.signal.aborted) throw error;
    const { code, hint } = isStepsError(error) ? error : { code: "LOAD_FAILED", hint: undefined };
    walk.problems.push({ message: `${formatAction(step)}: ${messageOf(error)}`, code, hint });
    return undefined;
  }
}

function usesDocker({ opened, nested }: Prepared): boolean {
  return opened.specDefinition.definition.github?.using === "docker" || nested.some(usesDocker);
}

/** What an item of the job's own list gives its action, as far as that is known before any step has run. */
export type ExpandGiven = (item: { readonly invocation: StepInvocation; readonly path: string }) => {
  readonly given: Readonly<Record<string, RuntimeValue>>;
  readonly env: Readonly<Record<string, RuntimeString>>;
};

interface PreCall {
  readonly scope: ActionScope;
  readonly posts: PostEntry[];
  readonly expand: ExpandGiven;
  readonly pathOf: () => string;
  readonly titleOf: (invocation: StepInvocation) => string;
}

/** Runs what the actions of the job want done before its first step, in order; returns the first failure. */
export async function runPres(run: Run, prepared: readonly Prepared[], call: PreCall): Promise<StepEnd | undefined> {
  let failure: StepEnd | undefined;
  for (const item of prepared) {
    if (!wantsPre(item)) continue;
    const end = await runPreOf(run, item, call);
    if (!isSuccess(end.conclusion ?? end.outcome.status)) failure ??= end;
  }
  return failure;
}

function wantsPre({ opened, nested }: Prepared): boolean {
  return opened.specDefinition.definition.github?.pre !== undefined || nested.some(wantsPre);
}

async function runPreOf(run: Run, item: Prepared, call: PreCall): Promise<StepEnd> {
  const { invocation, opened, path, nested } = item;
  const { scope } = call;
  const { given, env } = call.expand({ invocation, path });
  const caller: ActionScope = { ...scope, environment: scope.environment.with(env) };
  const title = call.titleOf(invocation);
  const mayFail = (inner: Run): boolean => allowsFailure(inner, scope, invocation);
  const instance = createInstance(run, {
    caller,
    path,
    title,
    id: invocation.name,
    opened,
    given,
    env,
    posts: call.posts,
    allowsFailure: mayFail,
  });
  scope.job.keepInstance(path, instance);
  const condition = opened.specDefinition.definition.github?.preIf ?? "always()";
  const entry = {
    title,
    reference: opened.reference,
    scope: instance.scope,
    condition,
    allowsFailure: mayFail,
    run: async (inner: Run, at: string): Promise<StepEnd> => {
      await opened.bring?.();
      tellPlan(inner, instance, at);
      putAside(instance);
      if (nested.length === 0) return runPhaseOf(inner, instance, { phase: "pre", path: at });
      return runNestedPres(inner, nested, { instance, at });
    },
  };
  return runPhase(run, entry, { path: call.pathOf(), phase: "pre" });
}

async function runNestedPres(
  run: Run,
  nested: readonly Prepared[],
  { instance, at }: { readonly instance: ActionInstance; readonly at: string },
): Promise<StepEnd> {
  const { scope, posts } = instance;
  let count = 0;
  const failure = await runPres(run, nested, {
    scope,
    posts,
    expand: ({ invocation }) => invocationOf(run, scope, invocation),
    pathOf: () => `${at}/${count++}`,
    titleOf,
  });
  return { outcome: failure?.outcome ?? { status: "success" }, outputs: {}, exports: {} };
}
