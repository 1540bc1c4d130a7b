import type { JournalEvent } from "@steps/trace/journal";
import { OutputTail } from "./output-tail.ts";
import { ProgressTree } from "./progress-tree.ts";

/** All that is kept of a job while a pipeline shows it, so that its failure can be explained in the end. */
export class JobRecord {
  readonly tree: ProgressTree = new ProgressTree(Date.now());
  /** The last output of each step. */
  readonly tails: OutputTail = new OutputTail();
  /** Output of other jobs stands between that of this one and the end, however short the tree is. */
  readonly lastHeight: number = Infinity;

  onEvent(event: JournalEvent): void {
    this.tree.apply(event);
  }

  onOutput(chunk: Uint8Array, path = ""): void {
    this.tails.add(path, chunk);
  }
}
