import type { StepInvocation } from "@steps/model/definition";
import type { StepEnd } from "../outcome/step-end.ts";
import type { Run } from "../run/run.ts";

/** An item of a list of steps. */
export interface ListItem {
  readonly invocation: StepInvocation;
  /** The place of the item among the children of its list, from 0. */
  readonly index: number;
  /** The path of the step that the item is. */
  readonly path: string;
}

/** How a list is doing when an item's turn comes. */
export interface Progress {
  /** A step before the item did not succeed, and was not allowed to fail. */
  readonly hasFailed: boolean;
  /** The run was cancelled, or its time is over. */
  readonly isCancelled: boolean;
  /** The time of the job, or of the step that the list belongs to, is over. */
  readonly isTimedOut: boolean;
  /** The item is behind `finally`: it does not need success. */
  readonly isFinally: boolean;
  /** The items of the list run at the same time. */
  readonly isParallel: boolean;
}

/** The answer to an item's condition. */
export type Verdict =
  | {
      readonly holds: true;
      /** The item runs to its end although the run was aborted. */
      readonly isInAnyCase: boolean;
    }
  | {
      readonly holds: false;
      /** The end of the item, which says why it does not run. */
      readonly end: StepEnd;
      /** Nothing of the list comes after the item, not even what runs in any case. Absent: the list goes on. */
      readonly endsList?: boolean;
    };

/** An item that has begun. */
export interface OpenItem {
  /** The name that the item is shown by. */
  readonly title: string;
}

/**
 * Everything that `StepList` has to know of one list: the language that it is written in, and the place where its expressions
 * are evaluated.
 */
export interface ListLanguage<Item extends ListItem> {
  /** The list is the job's own, so that its status is the status of the job. */
  readonly isJob: boolean;
  /** An allowed failure is told as the item's conclusion. */
  readonly tellsConclusion: boolean;
  /** The name that the item is shown by. */
  titleOf(item: Item): string;
  /** The name of the item in the message of the list's failure. @param title what `titleOf()` gave before the item ran */
  labelOf(item: Item, title: string): string;
  /** Tells whether the item is left out without an event. */
  isLeftOut(item: Item, progress: Progress): boolean;
  /** Evaluates the item's condition. The item fails with what this throws. */
  judge(item: Item, progress: Progress): Verdict;
  /** Runs an item whose condition holds. The item fails with what this throws. */
  runItem(run: Run, item: Item & OpenItem): Promise<StepEnd>;
  /** Tells whether the list goes on after a failure of the item. It is asked when the item has ended: the answer may depend on it. */
  allowsFailure(item: Item, end: StepEnd): boolean;
  /** Makes the end of an item known to the expressions of those after it. */
  keepEnd(item: Item, end: StepEnd): void;
  /** Called when the list fails or is cancelled; absent where no expression asks for the status of its list. */
  readonly onStatus?: (status: "failure" | "cancelled") => void;
}
