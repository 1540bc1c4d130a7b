import { errors, type OutputWriter, terminalOf } from "@steps/console/terminal";
import type { JournalEvent } from "@steps/trace/journal";
import { printable } from "@steps/model/diagnostic";
import { LinePrefix } from "../line-prefix.ts";
import { LiveView } from "./live-view.ts";
import { OutputTail } from "./output-tail.ts";
import { endLine, PlainLines } from "./plain-lines.ts";
import { ProgressTree } from "./progress-tree.ts";
import { summarise } from "./summary.ts";

/** Shows one job while it runs: as a tree that grows, or as plain lines. */
export class JobView {
  readonly tree: ProgressTree = new ProgressTree(Date.now());
  /** The last output of each step. */
  readonly tails: OutputTail = new OutputTail();
  /** How many lines the view has left below the output. */
  lastHeight = 0;
  readonly #live: LiveView | undefined;
  readonly #plain: PlainLines | undefined;
  readonly #prefixes = new Map<string, LinePrefix>();
  readonly #terminal = terminalOf(2);

  constructor(mode: "tree" | "plain") {
    if (mode === "tree") this.#live = new LiveView(this.tree);
    else this.#plain = new PlainLines(this.tree);
  }

  readonly onEvent = (event: JournalEvent): void => {
    this.tree.apply(event);
    if (event.type === "step-finished") this.#live?.endLine();
    if (event.type === "step-finished") this.#endPrefixes(event.path);
    this.#say(this.#plain?.linesOf(event) ?? []);
  };

  /** Says how far a fetch is. */
  tellFetch(path: string, text: string): void {
    this.#say(this.#plain?.flush() ?? []);
    // A step without a name is called like the reference that it fetches.
    const isRepeated = this.tree.nodeAt(path)?.isNamed === false;
    this.tree.tellActivity(path, isRepeated ? text.replace(/^fetching \S+: /, "fetching: ") : text);
  }

  /** A step of a job in a container runs, of which no more is known than its name. */
  readonly onStep = (name: string): void => {
    this.tree.tellActivity("", `runs ${name}`);
    if (this.#plain !== undefined) this.#say([`▶ ${printable(name)}`]);
  };

  /** Writes output of a step. In plain lines that of steps which run at the same time stands behind their names. */
  write(writer: OutputWriter, stream: "stdout" | "stderr", chunk: Uint8Array, path = ""): void | Promise<void> {
    this.tails.add(path, chunk);
    if (this.#plain === undefined || !this.tree.isInParallel(path)) return writer.write(chunk);
    const key = `${path} ${stream}`;
    let prefix = this.#prefixes.get(key);
    if (prefix === undefined) {
      const name = printable(this.tree.namesOf(path).join(" / "));
      prefix = new LinePrefix(writer, this.#terminal.dim(`${name} | `));
      this.#prefixes.set(key, prefix);
    }
    return prefix.write(chunk);
  }

  /** Takes the view away before a person is asked something. */
  suspend(): void {
    this.#live?.suspend();
  }

  /** Leaves the tree as it is at the end, and a line that sums it up. */
  finish(): void {
    const now = Date.now();
    this.lastHeight = this.#live?.finish() ?? 2;
    const { root } = this.tree;
    if (this.#plain === undefined) this.#say([summarise(this.tree, now)]);
    else
      this.#say([
        ...this.#plain.flush(),
        `${endLine({ ...root, exitCode: undefined }, printable(root.label), now)}: ${summarise(this.tree, now)}`,
      ]);
  }

  #endPrefixes(path: string): void {
    for (const stream of ["stdout", "stderr"]) {
      void this.#prefixes.get(`${path} ${stream}`)?.end();
      this.#prefixes.delete(`${path} ${stream}`);
    }
  }

  #say(lines: readonly string[]): void {
    if (lines.length > 0) void errors.writeLines(lines.map((line) => `${this.#terminal.dim(line)}\n`).join(""));
  }
}
