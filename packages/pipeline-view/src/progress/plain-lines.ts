import { printable } from "@steps/model/diagnostic";
import type { JournalEvent } from "@steps/trace/journal";
import { MARKS } from "@steps/trace/tree";
import { describeNode } from "./draw-tree.ts";
import type { ProgressNode, ProgressTree } from "./progress-tree.ts";

/** A step that has begun, and was not told yet: one that is skipped has no line for its beginning. */
interface Untold {
  readonly path: string;
  readonly job: string;
}

/** Events that only a step has which is not skipped. */
const BEGINNINGS: ReadonlySet<JournalEvent["type"]> = new Set([
  "component-resolved",
  "step-planned",
  "process-starting",
  "run-finished",
]);

/** The lines of a run without a screen: one when a step begins, one when it ends, each with the names of those around it. */
export class PlainLines {
  readonly #tree: ProgressTree;
  #untold: Untold[] = [];

  constructor(tree: ProgressTree) {
    this.#tree = tree;
  }

  /** The lines that an event gives, once the tree has taken it. */
  linesOf(event: JournalEvent, job = ""): string[] {
    if (event.type === "step-opened" && event.path !== "") {
      const lines = this.flush();
      this.#untold.push({ path: event.path, job });
      return lines;
    }
    if (event.type !== "step-finished" || event.path === "") return BEGINNINGS.has(event.type) ? this.flush() : [];
    const isSkipped = event.status === "skipped";
    if (isSkipped) this.#untold = this.#untold.filter(({ path, job: of }) => path !== event.path || of !== job);
    return [...this.flush(), this.#end(event.path, job, event.at)];
  }

  /** The lines of what has begun and was not told. */
  flush(): string[] {
    return this.#untold.splice(0).map(({ path, job }) => `▶ ${this.#name(path, job)}`);
  }

  #end(path: string, job: string, at: number): string {
    const node = this.#tree.nodeAt(path, job);
    return node === undefined ? "" : endLine(node, this.#name(path, job), at);
  }

  #name(path: string, job: string): string {
    return printable(this.#tree.namesOf(path, job).join(" / "));
  }
}

/** The line for the end of a step or of a job. @param name the name that is shown, with those around it */
export function endLine(node: ProgressNode, name: string, at: number): string {
  const facts = printable(describeNode({ ...node, label: "" }, at));
  return `${MARKS[node.status]} ${name}${facts === "" ? "" : `  ${facts}`}`;
}
