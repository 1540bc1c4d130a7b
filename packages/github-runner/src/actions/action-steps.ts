import {
  cleanUpRun,
  endWithout,
  ExecuteError,
  finishStep,
  guard,
  isSuccess,
  mayBeAllowed,
  openReference,
  outcomeOfAbort,
  outcomeOfParent,
  outcomeOfThrown,
  type Run,
  signalWithTimeout,
  type StepEnd,
  tell,
  withoutCredentials,
} from "@steps/executor/kit";
import { evaluateCondition, evaluateTemplate, evaluateText, GithubExpressionError } from "@steps/github-language";
import {
  createObject,
  type Environment,
  type EnvironmentRecord,
  formatAction,
  mapObject,
  type Outcome,
  reveal,
  type RuntimeString,
  type RuntimeValue,
  type Status,
  type StepInvocation,
  type Value,
} from "@steps/model";
import { type ActionCall, type ActionInstance, wantedId } from "./action-instance.ts";
import { inputText } from "../process/action-process.ts";
import { type ActionScope, evaluationOf, statusOf } from "./action-scope.ts";
import type { PostEntry } from "../job/post-steps.ts";

/** Carries out one action: the way back up of the recursion. */
export type RunAction = (run: Run, call: ActionCall, prepared?: ActionInstance) => Promise<StepEnd>;

/** The steps of a composite action, or of a job. */
export interface ActionList {
  readonly scope: ActionScope;
  readonly invocations: readonly StepInvocation[];
  /** Where references of the list start. */
  readonly dir: string;
  readonly root: string | undefined;
  readonly posts: PostEntry[];
  readonly runAction: RunAction;
  readonly onStatus: (status: Status) => void;
}

/** What a list came to. */
export interface ActionListEnd {
  /** Of the first step that failed and was not allowed to. */
  readonly outcome: Outcome | undefined;
  readonly exports: Readonly<Record<string, RuntimeString>>;
}

/** Runs the steps in order; what asks for it runs after a failure and a cancel, too. */
export async function runActionSteps(run: Run, list: ActionList): Promise<ActionListEnd> {
  const exports = createObject<RuntimeString>();
  let outcome: Outcome | undefined;
  const noteAbort = (): void => {
    if (!run.signal.aborted) return;
    const abort = outcomeOfAbort(run.signal.reason);
    outcome ??= abort;
    // When the time of a step is over, that is none of the job; when that of the job is, it is cancelled.
    list.onStatus(list.scope.isJob || abort.status === "cancelled" ? "cancelled" : "failure");
  };
  for (const [index, invocation] of list.invocations.entries()) {
    noteAbort();
    const end = await runItem(run, list, { invocation, index });
    Object.assign(exports, end.exports);
    if (!isSuccess(end.conclusion ?? end.outcome.status)) {
      outcome ??= outcomeOfParent(end.outcome, JSON.stringify(titleOf(invocation)));
      list.onStatus(end.outcome.status === "cancelled" ? "cancelled" : "failure");
    }
    if (invocation.name !== "") list.scope.steps[invocation.name] = contextOf(end) as Value;
    if (end.endsList === true) break;
  }
  noteAbort();
  return { outcome, exports };
}

const MAX_TITLE_LENGTH = 100;

/** As it is shown unless its title has expressions. */
export function titleOf({ name, step, github }: StepInvocation): string {
  if (github?.title !== undefined) return github.title;
  if (step.kind === "action") return formatAction(step);
  const script = step.kind === "inline" ? (step.specDefinition.definition.github?.script ?? "") : "";
  const [first = ""] = script.trim().split("\n", 1);
  return first === "" ? name : `Run ${first}`;
}

function contextOf(end: StepEnd): Record<string, Value> {
  const status = wordOf(end.outcome.status);
  const conclusion = wordOf(end.conclusion ?? end.outcome.status);
  return { outputs: mapObject(end.outputs, reveal) as Value, outcome: status, conclusion };
}

function wordOf(status: Status): string {
  return ["success", "skipped", "cancelled"].includes(status) ? status : "failure";
}

interface Item {
  readonly invocation: StepInvocation;
  readonly index: number;
}

interface ItemEnd extends StepEnd {
  /** Nothing comes after it, not even what runs always. */
  readonly endsList?: boolean;
}

async function runItem(run: Run, list: ActionList, item: Item): Promise<ItemEnd> {
  const { scope } = list;
  const { invocation, index } = item;
  const path = scope.path === "" ? String(index) : `${scope.path}/${index}`;
  const title = shownTitle(run, scope, invocation);
  const reference = withoutCredentials(invocation.step);
  tell(run, { type: "step-opened", at: Date.now(), path, name: title, reference });
  const end: ItemEnd = await guard(run, () => runIfItHolds(run, list, { ...item, path, title }));
  const isAllowed = mayBeAllowed(end.outcome.status) && end.endsList !== true && allowsFailure(run, scope, invocation);
  const concluded: ItemEnd = isAllowed ? { ...end, conclusion: "success" } : end;
  finishStep(run, path, concluded);
  return concluded;
}

function shownTitle(run: Run, scope: ActionScope, invocation: StepInvocation): string {
  const title = titleOf(invocation);
  try {
    return oneLine(evaluateText(title, evaluationOf(run, scope)));
  } catch (error) {
    if (!(error instanceof GithubExpressionError)) throw error;
    return oneLine(title);
  }
}

function oneLine(text: string): string {
  return (text.trim().split(/[\r\n]/, 1)[0] ?? "").slice(0, MAX_TITLE_LENGTH);
}

/** Whether a step, or what it wants done before and after the job, may fail. Asked afterwards: it may depend on the step. */
export function allowsFailure(run: Run, scope: ActionScope, { github, control }: StepInvocation): boolean {
  if (github?.continueOnError === undefined) return control?.continueOnError === true;
  try {
    const value = evaluateTemplate(github.continueOnError, evaluationOf(run, scope));
    return value === true || value === "true";
  } catch (error) {
    if (!(error instanceof GithubExpressionError)) throw error;
    return false;
  }
}

interface OpenItem extends Item {
  readonly path: string;
  readonly title: string;
}

async function runIfItHolds(run: Run, list: ActionList, item: OpenItem): Promise<ItemEnd> {
  const { scope } = list;
  const { invocation, path } = item;
  const environment = scope.environment;
  const condition = invocation.github?.if;
  const id = idOf(scope, invocation, path);
  const holdsFor = (status: ReturnType<typeof statusOf>) =>
    evaluateCondition(condition, { ...evaluationOf(run, { ...scope, path }, { environment, id }), status });
  const holdsOnCancel = (): boolean => {
    try {
      return holdsFor({ isSuccess: false, isFailure: false, isCancelled: true }).holds;
    } catch (error) {
      if (!(error instanceof GithubExpressionError)) throw error;
      return false;
    }
  };
  let verdict: ReturnType<typeof holdsFor>;
  try {
    verdict = holdsFor(statusOf(run, scope, false));
  } catch (error) {
    // As with GitHub: a condition that cannot be evaluated fails a step of the job, and ends a composite action.
    return { ...endWithout(outcomeOfThrown(run, error, "run")), endsList: scope.status !== undefined };
  }
  const { holds, explanation, warning } = verdict;
  if (warning !== undefined) {
    tell(run, { type: "note", at: Date.now(), path, level: "warning", code: "condition", message: warning });
  }
  if (!holds) return { ...endWithout({ status: "skipped" }), skipReason: explanation };
  const goesOn = condition !== undefined && holdsOnCancel();
  const cleanUp = goesOn ? cleanUpRun(run) : { run, release() {} };
  try {
    return await runWithTimeout(cleanUp.run, list, item);
  } finally {
    cleanUp.release();
  }
}

async function runWithTimeout(run: Run, list: ActionList, item: OpenItem): Promise<StepEnd> {
  // Composite actions know no time limits.
  const minutes = list.scope.isJob ? timeoutOf(run, list.scope, item.invocation) : undefined;
  const stop = signalWithTimeout(run.signal, minutes === undefined ? undefined : minutes * 60_000);
  try {
    return await runOpened({ ...run, signal: stop.signal }, list, item);
  } finally {
    stop.release();
  }
}

function timeoutOf(run: Run, scope: ActionScope, { github }: StepInvocation): number | undefined {
  if (github?.timeoutMinutes === undefined) return undefined;
  const minutes = Number(evaluateTemplate(github.timeoutMinutes, evaluationOf(run, scope)));
  if (Number.isFinite(minutes) && minutes > 0) return minutes;
  throw new ExecuteError("EXPRESSION_FAILED", "timeout-minutes: it is no number of minutes");
}

async function runOpened(run: Run, list: ActionList, { invocation, path, title }: OpenItem): Promise<StepEnd> {
  const { scope, dir, root, posts } = list;
  const { given, env, environment } = invocationOf(run, { ...scope, path }, invocation);
  const opened = await openReference(run, invocation.step, {
    caller: { dir, root, environment: scope.environment, source: { pointer: "", positionOf: undefined } },
    path,
    pointer: "",
    inputNames: Object.keys(given),
    knownInputs: mapObject(given, revealText),
    env: {},
  });
  const { component, fetch = { isHit: true, bytes: 0, durationMs: 0 } } = opened;
  if (component) tell(run, { type: "component-resolved", at: Date.now(), path, resource: component, fetch });
  const caller: ActionScope = { ...scope, environment };
  const id = invocation.name;
  const mayFail = (inner: Run): boolean => allowsFailure(inner, scope, invocation);
  const call: ActionCall = { caller, path, title, id, opened, given, env, posts, allowsFailure: mayFail };
  return list.runAction(run, call, scope.job.instanceAt(path));
}

/** The texts of an invocation, evaluated: its env first, which its inputs see. */
export function invocationOf(
  run: Run,
  scope: ActionScope,
  invocation: StepInvocation,
): {
  readonly given: Readonly<Record<string, RuntimeValue>>;
  readonly env: EnvironmentRecord;
  readonly environment: Environment;
} {
  const id = idOf(scope, invocation, scope.path);
  const evaluation = evaluationOf(run, scope, { id });
  const env = mapObject(invocation.env, (text): RuntimeString => evaluateText(text, evaluation));
  const environment = scope.environment.with(env);
  const inner = evaluationOf(run, scope, { environment, id });
  const given = mapObject(invocation.inputs, (text): RuntimeValue => evaluateText(inputText(text), inner));
  return { given, env, environment };
}

// What `github.action` is to be when the step runs; a step whose `pre` has run has its id.
function idOf({ job }: ActionScope, invocation: StepInvocation, path: string): string {
  return job.instanceAt(path)?.id ?? job.peekId(wantedId(invocation));
}

function revealText(value: RuntimeValue): string {
  return inputText(reveal(value));
}
