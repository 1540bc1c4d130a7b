import {
  createObject,
  exitCodeOf,
  type Outcome,
  printable,
  type RuntimeString,
  type RuntimeValue,
  type Spec,
  type StepInvocation,
  type StepsDefinition,
} from "@steps/model";
import { cleanUpRun } from "../run/clean-up.ts";
import { asksForStatus, type Progress } from "./condition.ts";
import { ExecuteError } from "../outcome/execute-error.ts";
import { createExpander, escapePointer } from "../values/expander.ts";
import { type Level, scopeOf } from "../run/level.ts";
import { namesAction } from "./names-action.ts";
import { isSuccess, outcomeOfAbort, outcomeOfParent } from "../outcome/outcome.ts";
import { checkOutputs, type Outputs } from "../files/outputs.ts";
import { leakReporter } from "../values/report-leak.ts";
import { actionsOf } from "../run/actions-of.ts";
import type { Run } from "../run/run.ts";
import { expandEarly } from "./expand-early.ts";
import type { StepEnd } from "../outcome/step-end.ts";

/** An item of a level's list. */
export interface ListItem {
  readonly invocation: StepInvocation;
  /** Its place among the children of its level; those of `finally` come last. */
  readonly index: number;
  /** Of the invocation within the level's SpecDefinition. */
  readonly pointer: string;
}

/** Runs one item of a level's list, whatever it is: the way back up of the recursion. */
export type RunStep = (run: Run, caller: Level, item: ListItem, progress: Progress) => Promise<StepEnd>;

/** A list of steps to run. */
export interface SequenceCall {
  readonly spec: Spec;
  readonly definition: StepsDefinition;
  readonly hasOpenOutputs: boolean;
  readonly runStep: RunStep;
}

/**
 * Runs the children in order up to the first that does not succeed, or all at once; then those that ask for it in any case,
 * then those behind `finally`; then makes the outputs of theirs.
 */
export async function runSequence(run: Run, level: Level, call: SequenceCall): Promise<StepEnd> {
  const list = new StepList(run, level, call.runStep);
  const steps = itemsOf(call.definition.steps, { first: 0, pointer: "/definition/steps" });
  if (level.path === "") await list.prepare(call.definition);
  if (call.definition.isParallel === true) await list.runAtOnce(steps);
  else await list.runInOrder(steps);
  const last = { first: steps.length, pointer: "/definition/finally" };
  await list.runFinally(itemsOf(call.definition.finally ?? [], last));
  if (level.path === "") await list.runPosts();
  const { ends, exports, outcome } = list;
  if (outcome !== undefined) return { outcome, outputs: {}, exports };
  const outputs = outputsOf(run, level, { ...call, ends });
  const isDelegate = call.spec.outputs === "delegate" && call.definition.delegate !== undefined;
  const delegate = isDelegate ? { delegateOf: call.definition.delegate as string } : {};
  return { outcome: success, outputs, exports, ...delegate };
}

const success: Outcome = { status: "success" };

function itemsOf(
  invocations: readonly StepInvocation[],
  { first, pointer }: { readonly first: number; readonly pointer: string },
): ListItem[] {
  return invocations.map((invocation, i) => ({ invocation, index: first + i, pointer: `${pointer}/${i}` }));
}

/** The children of one level while they run. */
class StepList {
  /** Of the first child that failed, or of the abort; `undefined` while all is well. */
  outcome: Outcome | undefined;
  /** By name. */
  readonly ends: Map<string, StepEnd> = new Map();
  readonly exports: Record<string, RuntimeString> = createObject<RuntimeString>();
  readonly #run: Run;
  readonly #level: Level;
  readonly #runStep: RunStep;

  constructor(run: Run, level: Level, runStep: RunStep) {
    this.#run = run;
    this.#level = level;
    this.#runStep = runStep;
  }

  async runInOrder(items: readonly ListItem[]): Promise<void> {
    for (const item of items) {
      this.#noteAbort();
      const { control } = item.invocation;
      // What has no condition of its own is not so much as looked at once something failed.
      if (this.outcome !== undefined && control?.condition === undefined) continue;
      const isInAnyCase = asksForStatus(control);
      this.#take(item, await (isInAnyCase ? this.#runInAnyCase(item, false) : this.#runOne(item)));
    }
    this.#noteAbort();
  }

  async runAtOnce(items: readonly ListItem[]): Promise<void> {
    const before = this.#level.environment.shared("PATH");
    const branches = items.map((item) => {
      const level = {
        ...this.#level,
        steps: createObject<RuntimeValue>(),
        environment: this.#level.environment.fork(),
      };
      const branch = level.path === "" ? String(item.index) : `${level.path}/${item.index}`;
      return this.#runStep({ ...this.#run, branch }, level, item, this.#progress(false));
    });
    const settled = await Promise.allSettled(branches);
    for (const [i, branch] of settled.entries()) {
      if (branch.status === "rejected") throw branch.reason;
      const { exports } = branch.value;
      if (Object.keys(exports).length > 0) this.#level.environment.export(exports);
      this.#take(items[i] as ListItem, branch.value);
    }
    if (this.#run.state.actions !== undefined && typeof before === "string") {
      const actions = await this.#run.state.actions;
      const exports = settled.flatMap((branch) => (branch.status === "fulfilled" ? [branch.value.exports] : []));
      Object.assign(this.exports, await actions.joinPaths(this.#run, this.#level.environment, { before, exports }));
    }
    this.#noteAbort();
  }

  async runFinally(items: readonly ListItem[]): Promise<void> {
    for (const item of items) this.#take(item, await this.#runInAnyCase(item, true));
  }

  /** Brings the actions of the job here, and runs what they want done before its first step. */
  async prepare({ steps, finally: last = [] }: StepsDefinition): Promise<void> {
    const invocations = [...steps, ...last];
    if (!invocations.some(namesAction)) return;
    const actions = await actionsOf(this.#run);
    const end = await actions.prepare(this.#run, this.#level, {
      invocations,
      expand: (item) => expandEarly(this.#run, this.#level, item),
    });
    if (end === undefined) return;
    this.#fail(end.outcome);
  }

  /** Runs what the actions of the job want done afterwards. */
  async runPosts(): Promise<void> {
    const actions = await this.#run.state.actions;
    const outcome = await actions?.runPosts(this.#run);
    if (outcome !== undefined) this.#fail(outcome);
  }

  #fail(outcome: Outcome): void {
    this.outcome ??= outcome;
    if (this.#level.path === "") this.#run.state.hasFailed = true;
  }

  #runOne(item: ListItem): Promise<StepEnd> {
    return this.#runStep(this.#run, this.#level, item, this.#progress(false));
  }

  async #runInAnyCase(item: ListItem, isFinally: boolean): Promise<StepEnd> {
    const progress = this.#progress(isFinally);
    const cleanUp = cleanUpRun(this.#run);
    try {
      return await this.#runStep(cleanUp.run, this.#level, item, progress);
    } finally {
      cleanUp.release();
    }
  }

  #progress(isFinally: boolean): Progress {
    return { hasFailed: this.outcome !== undefined, isCancelled: this.#run.signal.aborted, isFinally };
  }

  #noteAbort(): void {
    const { signal } = this.#run;
    if (!signal.aborted) return;
    this.outcome ??= outcomeOfAbort(signal.reason);
    if (this.#level.path === "") this.#run.state.isCancelled = true;
  }

  #take({ invocation, index }: ListItem, end: StepEnd): void {
    Object.assign(this.exports, end.exports);
    const { name, control } = invocation;
    if (!isSuccess(end.outcome.status) && control?.continueOnError !== true) {
      this.#fail(outcomeOfParent(end.outcome, label(invocation, index)));
    }
    if (name === "") return;
    this.ends.set(name, end);
    this.#level.steps[name] = contextOf(end);
  }
}

function label(invocation: StepInvocation, index: number): string {
  return invocation.name === "" ? `#${index + 1}` : printable(JSON.stringify(invocation.name));
}

function contextOf(end: StepEnd): Record<string, RuntimeValue> {
  const context = createObject<RuntimeValue>();
  context["outputs"] = end.outputs as RuntimeValue;
  context["status"] = end.outcome.status;
  context["exit_code"] = exitCodeOf(end.outcome);
  context["exports"] = end.exports as RuntimeValue;
  return context;
}

function outputsOf(run: Run, level: Level, call: SequenceCall & { ends: ReadonlyMap<string, StepEnd> }): Outputs {
  const { spec, definition, ends } = call;
  if (spec.outputs === "delegate") return delegatedOutputs(definition, ends);
  const expander = createExpander(run, () => scopeOf(run, level), { path: level.path, source: level.source });
  const values = createObject<RuntimeValue>();
  for (const name of Object.keys(definition.outputs)) {
    const place = { what: `outputs: "${name}"`, pointer: `/definition/outputs/${escapePointer(name)}` };
    values[name] = expander.value(definition.outputs[name] ?? null, place);
  }
  return checkOutputs(values, spec, { isOpen: call.hasOpenOutputs, onLeak: leakReporter(run, level.path) });
}

function delegatedOutputs({ delegate }: StepsDefinition, ends: ReadonlyMap<string, StepEnd>): Outputs {
  const child = ends.get(delegate ?? "");
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
