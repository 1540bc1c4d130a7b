import { createObject, type RuntimeValue } from "@steps/model";
import type { Spec, StepInvocation, StepsDefinition } from "@steps/model/definition";
import { printable } from "@steps/model/diagnostic";
import { escapePointer } from "@steps/model/value";
import { ExecuteError } from "../outcome/execute-error.ts";
import { createExpander } from "../values/expander.ts";
import { type Level, scopeOf } from "../run/level.ts";
import { namesAction } from "./names-action.ts";
import { checkOutputs, type Outputs } from "../files/outputs.ts";
import { leakReporter } from "../values/report-leak.ts";
import type { ExpandGiven } from "../run/action-runner.ts";
import { actionsOf } from "../run/actions-of.ts";
import type { Run } from "../run/run.ts";
import { expandEarly } from "./expand-early.ts";
import type { StepEnd } from "../outcome/step-end.ts";
import { itemsOf, StepList } from "./step-list.ts";
import { type Delegate, type RunStep, type StepItem, stepLanguage } from "./step-language.ts";

/** A list of steps to run. */
export interface SequenceCall {
  readonly spec: Spec;
  readonly definition: StepsDefinition;
  readonly hasOpenOutputs: boolean;
  readonly runStep: RunStep;
}

/**
 * Runs the children in order up to the first that does not succeed, or all at once; then children whose condition holds after
 * a failure, then `finally`; last, computes the list's outputs from the children's.
 */
export async function runSequence(run: Run, level: Level, call: SequenceCall): Promise<StepEnd> {
  const { spec, definition, runStep } = call;
  const { steps, finally: last = [] } = definition;
  const delegate = definition.delegate === undefined ? undefined : { name: definition.delegate };
  const list = new StepList(run, stepLanguage(run, level, { runStep, delegate }));
  const isJob = level.path === "";
  if (isJob) await prepareActions(run, level, { list, invocations: [...steps, ...last] });
  const items = stepItems(level, steps, { first: 0, pointer: "/definition/steps" });
  if (definition.isParallel === true) await runAtOnce(run, level, { list, items, runStep, delegate });
  else await list.runInOrder(items);
  await list.runFinally(stepItems(level, last, { first: steps.length, pointer: "/definition/finally" }));
  if (isJob) await runPosts(run, list);
  const { exports, outcome } = list;
  if (outcome !== undefined) return { outcome, outputs: {}, exports };
  const outputs = outputsOf(run, level, { ...call, ended: delegate });
  const delegateOf = spec.outputs === "delegate" ? definition.delegate : undefined;
  return { outcome: { status: "success" }, outputs, exports, delegateOf };
}

function stepItems(
  level: Level,
  invocations: readonly StepInvocation[],
  { first, pointer }: { readonly first: number; readonly pointer: string },
): StepItem[] {
  return itemsOf(level.path, invocations, first).map((item, i) => ({ ...item, pointer: `${pointer}/${i}` }));
}

interface ParallelList {
  readonly list: StepList<StepItem>;
  readonly items: readonly StepItem[];
  readonly runStep: RunStep;
  readonly delegate: Delegate | undefined;
}

async function runAtOnce(run: Run, level: Level, { list, items, runStep, delegate }: ParallelList): Promise<void> {
  const before = level.environment.shared("PATH");
  const ended = await list.runAtOnce(items, ({ path }) => {
    const own: Level = { ...level, steps: createObject<RuntimeValue>(), environment: level.environment.fork() };
    const part: Run = { ...run, branch: path };
    return { run: part, language: stepLanguage(part, own, { runStep, delegate }) };
  });
  const exports = ended.map((end) => end.exports);
  for (const own of exports) if (Object.keys(own).length > 0) level.environment.export(own);
  if (run.state.actions === undefined || typeof before !== "string") return;
  const actions = await run.state.actions;
  Object.assign(list.exports, await actions.joinPaths(run, level.environment, { before, exports }));
}

interface JobList {
  readonly list: StepList<StepItem>;
  readonly invocations: readonly StepInvocation[];
}

/** Brings the actions of the job here, and runs what they want done before its first step. */
async function prepareActions(run: Run, level: Level, { list, invocations }: JobList): Promise<void> {
  if (!invocations.some(namesAction)) return;
  const actions = await actionsOf(run);
  const expand: ExpandGiven = (item) => expandEarly(run, level, item);
  const end = await actions.prepare(run, level, { invocations, expand });
  if (end !== undefined) list.fail(end.outcome);
}

/** Runs what the actions of the job want done afterwards. */
async function runPosts(run: Run, list: StepList<StepItem>): Promise<void> {
  const actions = await run.state.actions;
  const outcome = await actions?.runPosts(run);
  if (outcome !== undefined) list.fail(outcome);
}

function outputsOf(run: Run, level: Level, call: SequenceCall & { readonly ended: Delegate | undefined }): Outputs {
  const { spec, definition, ended } = call;
  if (spec.outputs === "delegate") return delegatedOutputs(definition, ended?.end);
  const expander = createExpander(run, () => scopeOf(run, level), { path: level.path, source: level.source });
  const values = createObject<RuntimeValue>();
  for (const name of Object.keys(definition.outputs)) {
    const place = { what: `outputs: "${name}"`, pointer: `/definition/outputs/${escapePointer(name)}` };
    values[name] = expander.value(definition.outputs[name] ?? null, place);
  }
  return checkOutputs(values, spec, { isOpen: call.hasOpenOutputs, onLeak: leakReporter(run, level.path) });
}

function delegatedOutputs({ delegate }: StepsDefinition, child: StepEnd | undefined): Outputs {
  if (child !== undefined && child.outcome.status === "success") return child.outputs;
  const shown = printable(JSON.stringify(delegate ?? ""));
  const why =
    delegate === undefined
      ? "the definition names no step"
      : child === undefined
        ? `no step ${shown}`
        : `step ${shown} did not succeed: ${child.outcome.status}`;
  throw new ExecuteError("DELEGATE_INVALID", `outputs: delegate: ${why}`);
}
