import { createObject, type Outcome, type RuntimeString } from "@steps/model";
import type { StepInvocation } from "@steps/model/definition";
import { TimedOut } from "../outcome/cancelled.ts";
import { isSuccess, outcomeOfAbort, outcomeOfParent } from "../outcome/outcome.ts";
import type { StepEnd } from "../outcome/step-end.ts";
import { cleanUpRun } from "../run/clean-up.ts";
import { withoutCredentials } from "../values/secret-reference.ts";
import type { Run } from "../run/run.ts";
import { runToldStep } from "../run/told-step.ts";
import type { ListItem, ListLanguage, Progress } from "./list-language.ts";

/** The items of a list whose step has the path `parent`; `first` is the index of the first of them. */
export function itemsOf(parent: string, invocations: readonly StepInvocation[], first = 0): ListItem[] {
  return invocations.map((invocation, i) => ({ invocation, index: first + i, path: childPath(parent, first + i) }));
}

/** The path of a child: `0/2` for the third child of the step `0`. The job's own path is empty. */
export function childPath(parent: string, index: number): string {
  return parent === "" ? String(index) : `${parent}/${index}`;
}

/** A branch of a list whose items run at the same time: its part of the run, and its own place for expressions. */
export interface Branch<Item extends ListItem> {
  readonly run: Run;
  readonly language: ListLanguage<Item>;
}

/** The items of one list while they run, in whatever language the list is written. */
export class StepList<Item extends ListItem> {
  /** The outcome of the first item that failed, or of the abort; `undefined` while all is well. */
  outcome: Outcome | undefined;
  /** The exports of all items that have ended; a later one wins. */
  readonly exports: Record<string, RuntimeString> = createObject<RuntimeString>();
  readonly #run: Run;
  readonly #language: ListLanguage<Item>;

  constructor(run: Run, language: ListLanguage<Item>) {
    this.#run = run;
    this.#language = language;
  }

  /** Runs items one after the other. An item after a failure or an abort runs if its language says so. */
  async runInOrder(items: readonly Item[]): Promise<void> {
    for (const item of items) {
      this.#noteAbort();
      const progress = this.#progress();
      if (this.#language.isLeftOut(item, progress)) continue;
      const { endsList } = await this.#runItem(item, progress);
      if (endsList) break;
    }
    this.#noteAbort();
  }

  /** Runs items at the same time. Returns their ends, in the order of the items. */
  async runAtOnce(items: readonly Item[], branchOf: (item: Item) => Branch<Item>): Promise<readonly StepEnd[]> {
    const progress = this.#progress({ isParallel: true });
    const branches = items.map((item) => {
      const { run, language } = branchOf(item);
      return runItem(run, language, { item, progress });
    });
    // All of them have to come to their end, also when the observer of the run throws in one.
    const settled = await Promise.allSettled(branches);
    const ends = settled.map((branch, i) => {
      if (branch.status === "rejected") throw branch.reason;
      this.#take(items[i] as Item, branch.value);
      return branch.value.end;
    });
    this.#noteAbort();
    return ends;
  }

  /** Runs the items behind `finally`, each whatever happened before it. */
  async runFinally(items: readonly Item[]): Promise<void> {
    for (const item of items) await this.#runItem(item, this.#progress({ isFinally: true }));
  }

  /** Notes a failure that is none of an item's: it becomes the outcome unless there is one. */
  fail(outcome: Outcome): void {
    this.outcome ??= outcome;
    this.#noteStatus(outcome.status === "cancelled" ? "cancelled" : "failure");
  }

  async #runItem(item: Item, progress: Progress): Promise<ItemEnd> {
    const ended = await runItem(this.#run, this.#language, { item, progress });
    this.#take(item, ended);
    return ended;
  }

  #take(item: Item, { title, end, isAllowed }: ItemEnd): void {
    Object.assign(this.exports, end.exports);
    if (!isAllowed && !isSuccess(end.outcome.status))
      this.fail(outcomeOfParent(end.outcome, this.#language.labelOf(item, title)));
    if (item.invocation.name !== "") this.#language.keepEnd(item, end);
  }

  #progress(place: Partial<Pick<Progress, "isFinally" | "isParallel">> = {}): Progress {
    const { isFinally = false, isParallel = false } = place;
    const { aborted: isCancelled, reason } = this.#run.signal;
    const isTimedOut = isCancelled && reason instanceof TimedOut;
    return { hasFailed: this.outcome !== undefined, isCancelled, isTimedOut, isFinally, isParallel };
  }

  #noteAbort(): void {
    const { signal } = this.#run;
    if (!signal.aborted) return;
    const abort = outcomeOfAbort(signal.reason);
    this.outcome ??= abort;
    // A step whose time is over has failed. A job whose time is over is cancelled.
    this.#noteStatus(this.#language.isJob || abort.status === "cancelled" ? "cancelled" : "failure");
  }

  #noteStatus(status: "failure" | "cancelled"): void {
    const { isJob, onStatus } = this.#language;
    if (isJob) {
      this.#run.state.hasFailed = true;
      if (status === "cancelled") this.#run.state.isCancelled = true;
    }
    onStatus?.(status);
  }
}

interface ItemEnd {
  /** The name that the item was shown by. */
  readonly title: string;
  readonly end: StepEnd;
  /** The list goes on although the item failed. */
  readonly isAllowed: boolean;
  readonly endsList: boolean;
}

/** Runs an item from its first event to its last. */
async function runItem<Item extends ListItem>(
  run: Run,
  language: ListLanguage<Item>,
  { item, progress }: { readonly item: Item; readonly progress: Progress },
): Promise<ItemEnd> {
  const { path, invocation } = item;
  const title = language.titleOf(item);
  const reference = withoutCredentials(invocation.step);
  let [endsList, isAllowed] = [false, false];
  const body = async (): Promise<StepEnd> => {
    const verdict = language.judge(item, progress);
    if (!verdict.holds) {
      endsList = verdict.endsList === true;
      return verdict.end;
    }
    const part = verdict.isInAnyCase ? cleanUpRun(run) : { run, release() {} };
    try {
      return await language.runItem(part.run, { ...item, title });
    } finally {
      part.release();
    }
  };
  const conclude = (end: StepEnd): StepEnd => {
    isAllowed = !endsList && !isSuccess(end.outcome.status) && language.allowsFailure(item, end);
    return isAllowed && language.tellsConclusion ? { ...end, conclusion: "success" } : end;
  };
  const end = await runToldStep(run, { path, name: title, reference }, body, conclude);
  return { title, end, isAllowed, endsList };
}
