import {
  endSkipped,
  endWithout,
  ExecuteError,
  type ListItem,
  type ListLanguage,
  mayBeAllowed,
  type OpenItem,
  type OpenedStep,
  openReference,
  outcomeOfAbort,
  outcomeOfThrown,
  type Run,
  signalWithTimeout,
  type StepEnd,
  tell,
  type Verdict,
} from "@steps/executor/kit";
import {
  evaluateCondition,
  evaluateTemplate,
  evaluateText,
  GithubExpressionError,
  hasExpression,
} from "@steps/github-language";
import {
  createObject,
  mapObject,
  reveal,
  type RuntimeString,
  type RuntimeValue,
  type Status,
  type Value,
} from "@steps/model";
import type { StepInvocation } from "@steps/model/definition";
import type { Environment, EnvironmentRecord } from "@steps/model/environment";
import { formatAction } from "@steps/model/reference";
import type { ActionCall, ActionInstance } from "../job/action-instance.ts";
import { wantedId } from "../actions/create-instance.ts";
import { inputText } from "../job/input-text.ts";
import { type ActionScope, evaluationOf, NOTHING, statusOf } from "../job/action-scope.ts";
import type { PostEntry } from "../job/phase-entry.ts";

/** Carries out one action: the way back up of the recursion. */
export type RunAction = (run: Run, call: ActionCall, prepared?: ActionInstance) => Promise<StepEnd>;

/** The steps of a composite action, or of a job. */
export interface ActionList {
  readonly scope: ActionScope;
  /** The absolute folder that references of the list start in. */
  readonly dir: string;
  readonly root: string | undefined;
  readonly posts: PostEntry[];
  readonly runAction: RunAction;
  /** Called when the list fails or is cancelled; absent for a job. */
  readonly onStatus?: (status: "failure" | "cancelled") => void;
}

/** A list in GitHub's language. */
export function actionLanguage(run: Run, list: ActionList): ListLanguage<ListItem> {
  const { scope, onStatus } = list;
  return {
    isJob: scope.isJob,
    tellsConclusion: true,
    titleOf: ({ invocation }) => shownTitle(run, scope, invocation),
    labelOf: (_item, title) => JSON.stringify(title),
    isLeftOut: () => false,
    judge: (item) => judge(run, scope, item),
    runItem: (part, item) => runWithTimeout(part, list, item),
    allowsFailure: ({ invocation }, { outcome }) =>
      mayBeAllowed(outcome.status) && allowsFailure(run, scope, invocation),
    keepEnd({ invocation: { name } }, end) {
      scope.steps[name] = contextOf(end) as Value;
    },
    onStatus,
  };
}

const MAX_TITLE_LENGTH = 100;

/** As it is shown unless its title has expressions. */
export function titleOf({ name, step, github }: StepInvocation): string {
  if (github?.title !== undefined) return github.title;
  if (step.kind === "action") return formatAction(step);
  const script = step.kind === "inline" ? (step.specDefinition.definition.github?.script ?? "") : "";
  const text = script.trim();
  const end = text.indexOf("\n");
  const first = end === -1 ? text : text.slice(0, end);
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

function shownTitle(run: Run, scope: ActionScope, invocation: StepInvocation): string {
  const title = titleOf(invocation);
  if (!hasExpression(title)) return oneLine(title);
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

/**
 * Tells whether a step, or what it wants done before and after the job, may fail. It is asked afterwards, since the answer may
 * depend on the step.
 */
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

function judge(run: Run, scope: ActionScope, { invocation, path }: ListItem): Verdict {
  const { environment } = scope;
  const condition = invocation.github?.if;
  const evaluation =
    condition === undefined
      ? { contexts: NOTHING }
      : evaluationOf(run, { ...scope, path }, { environment, id: idOf(scope, invocation, path) });
  const holdsFor = (status: ReturnType<typeof statusOf>) => evaluateCondition(condition, { ...evaluation, status });
  const holdsOnCancel = (): boolean => {
    try {
      return holdsFor({ isSuccess: false, isFailure: false, isCancelled: true }).holds;
    } catch (error) {
      if (!(error instanceof GithubExpressionError)) throw error;
      return false;
    }
  };
  let answer: ReturnType<typeof holdsFor>;
  try {
    answer = holdsFor(statusOf(run, scope, false));
  } catch (error) {
    // As with GitHub: a condition that cannot be evaluated fails a step of the job, and ends a composite action.
    return { holds: false, end: endWithout(outcomeOfThrown(run, error, "run")), endsList: !scope.isJob };
  }
  const { holds, explanation, warning } = answer;
  if (warning !== undefined) {
    tell(run, { type: "note", at: Date.now(), path, level: "warning", code: "condition", message: warning });
  }
  if (!holds) return { holds: false, end: endSkipped(explanation) };
  return { holds: true, isInAnyCase: condition !== undefined && holdsOnCancel() };
}

async function runWithTimeout(run: Run, list: ActionList, item: ListItem & OpenItem): Promise<StepEnd> {
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

async function runOpened(run: Run, list: ActionList, item: ListItem & OpenItem): Promise<StepEnd> {
  const { scope, dir, root, posts } = list;
  const { invocation, path, title } = item;
  const { given, env, environment } = invocationOf(run, { ...scope, path }, invocation);
  let opened: OpenedStep;
  try {
    opened = await openReference(run, invocation.step, {
      caller: { dir, root, environment: scope.environment, source: { pointer: "", positionOf: undefined } },
      path,
      pointer: "",
      inputNames: Object.keys(given),
      knownInputs: mapObject(given, revealText),
      env: {},
    });
  } catch (error) {
    if (!run.signal.aborted) throw error;
    return endWithout(outcomeOfThrown(run, error, "load"));
  }
  const { component, fetch = { isHit: true, bytes: 0, durationMs: 0 } } = opened;
  if (component) tell(run, { type: "component-resolved", at: Date.now(), path, resource: component, fetch });
  if (run.signal.aborted) return endWithout(outcomeOfAbort(run.signal.reason));
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
  if (Object.keys(invocation.env).length === 0 && Object.keys(invocation.inputs).length === 0) {
    return { given: createObject(), env: createObject(), environment: scope.environment };
  }
  const id = idOf(scope, invocation, scope.path);
  const evaluation = evaluationOf(run, scope, { id });
  const env = mapObject(invocation.env, (text): RuntimeString => evaluateText(text, evaluation));
  const environment = scope.environment.with(env);
  const inner = evaluationOf(run, scope, { environment, id });
  const given = mapObject(invocation.inputs, (text): RuntimeValue => evaluateText(inputText(text), inner));
  return { given, env, environment };
}

// The `github.action` that the step will have when it runs. A step whose `pre` has run has its id already.
function idOf({ job }: ActionScope, invocation: StepInvocation, path: string): string {
  return job.instanceAt(path)?.id ?? job.peekId(wantedId(invocation));
}

function revealText(value: RuntimeValue): string {
  return inputText(reveal(value));
}
