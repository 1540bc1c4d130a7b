import { childPath, ExecuteError, literalInputs, type OpenedStep, openReference, type Run } from "@steps/executor/kit";
import { isStepsError, messageOf, StepsError } from "@steps/model";
import type { StepInvocation } from "@steps/model/definition";
import { printable } from "@steps/model/diagnostic";
import { type ActionReference, formatAction } from "@steps/model/reference";
import { checkContainers } from "../containers/check-containers.ts";

/** A list of the job's own that may name actions. */
export interface PreparedList {
  readonly invocations: readonly StepInvocation[];
  readonly dir: string;
  readonly root: string | undefined;
}

/** An action that is there, with those its steps name. */
export interface Prepared {
  readonly invocation: StepInvocation;
  /** Its place in its list. */
  readonly index: number;
  readonly action: PreparedAction;
}

/** The same for all items that name it in the same way. */
interface PreparedAction {
  readonly opened: OpenedStep;
  readonly nested: readonly Prepared[];
  /** A part of it, or of an action within it, runs before the job's first step. */
  readonly wantsPre: boolean;
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
  const walk: Walk = { path: "", depth: 0, problems, known: new Map() };
  const prepared = await prepareList(run, list, walk);
  if ([...walk.known.values()].some((action) => action !== undefined && usesDocker(action))) {
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
  /** The actions by their reference, since few manifests can name very many. `undefined`: missing, or not prepared yet. */
  readonly known: Map<string, PreparedAction | undefined>;
}

async function prepareList(run: Run, list: PreparedList, walk: Walk): Promise<Prepared[]> {
  const found: Prepared[] = [];
  for (const [index, invocation] of list.invocations.entries()) {
    const path = childPath(walk.path, index);
    const { step } = invocation;
    if (step.kind === "inline" && step.specDefinition.definition.type === "steps") {
      const { steps, finally: last = [] } = step.specDefinition.definition;
      await prepareList(run, { ...list, invocations: [...steps, ...last] }, { ...walk, path, depth: walk.depth + 1 });
    }
    if (step.kind !== "action" || step.source === "workspace") continue;
    const action = await prepareOne(run, list, { invocation, step, walk: { ...walk, path } });
    if (action !== undefined) found.push({ invocation, index, action });
  }
  return found;
}

interface Item {
  readonly invocation: StepInvocation;
  readonly step: ActionReference;
  readonly walk: Walk;
}

async function prepareOne(run: Run, list: PreparedList, item: Item): Promise<PreparedAction | undefined> {
  const { known, problems } = item.walk;
  const from = item.step.source === "self" ? (list.root ?? list.dir) : "";
  const key = JSON.stringify([from, item.step, Object.keys(item.invocation.inputs), literalInputs(item.invocation)]);
  // One that names itself is opened again when its turn comes.
  if (known.has(key)) return known.get(key);
  known.set(key, undefined);
  try {
    const action = await bringAction(run, list, item);
    known.set(key, action);
    return action;
  } catch (error) {
    if (run.signal.aborted) throw error;
    const { code, hint } = isStepsError(error) ? error : { code: "LOAD_FAILED", hint: undefined };
    problems.push({ message: `${formatAction(item.step)}: ${messageOf(error)}`, code, hint });
    return undefined;
  }
}

async function bringAction(run: Run, list: PreparedList, { invocation, step, walk }: Item): Promise<PreparedAction> {
  const opened = await openReference(run, step, {
    caller: { ...list, environment: run.environment, source: { pointer: "", positionOf: undefined } },
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
  const wantsPre = definition.github?.pre !== undefined || nested.some(({ action }) => action.wantsPre);
  return { opened, nested, wantsPre };
}

function usesDocker({ opened }: PreparedAction): boolean {
  return opened.specDefinition.definition.github?.using === "docker";
}
