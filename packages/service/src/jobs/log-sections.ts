import type { JournalEvent } from "@steps/trace/journal";
import type { RunnerLines } from "./runner-lines.ts";

const [CYAN, RESET, CLEAR] = ["\u001B[36;1m", "\u001B[0;m", "\u001B[0K"];

/**
 * Marks the output of the job's own steps as sections that a web page folds
 * ([custom collapsible sections](https://docs.gitlab.com/ci/jobs/job_logs/#custom-collapsible-sections)). A step that does not run has none.
 */
export class LogSections {
  readonly #heads: ReadonlyMap<string, string>;
  readonly #lines: Pick<RunnerLines, "tryMark">;
  /** The names of steps that have a section, by their paths. */
  readonly #names = new Map<string, string>();
  readonly #open = new Set<string>();

  /** @param heads the masked lines that head the sections, by the names of the steps */
  constructor(heads: Readonly<Record<string, string>>, lines: Pick<RunnerLines, "tryMark">) {
    this.#heads = new Map(Object.entries(heads));
    this.#lines = lines;
  }

  /** Called for each event of the run, in its order with the output. */
  apply(event: JournalEvent): void {
    if (event.type === "step-opened") this.#learn(event);
    else if (event.type === "step-planned") this.#begin(event);
    else if (event.type === "step-finished") this.#end(event);
  }

  #learn({ path, name, phase }: Extract<JournalEvent, { type: "step-opened" }>): void {
    const isOfJob = path !== "" && !path.includes("/");
    if (isOfJob && phase === undefined && this.#heads.has(name)) this.#names.set(path, name);
  }

  #begin({ path, at }: Extract<JournalEvent, { type: "step-planned" }>): void {
    const name = this.#names.get(path);
    if (name === undefined || this.#open.has(path)) return;
    this.#open.add(path);
    const head = `${CYAN}${this.#heads.get(name) ?? ""}${RESET}\n`;
    this.#lines.tryMark(`section_start:${seconds(at)}:${name}\r${CLEAR}${head}`);
  }

  #end({ path, at }: Extract<JournalEvent, { type: "step-finished" }>): void {
    const name = this.#names.get(path);
    if (name !== undefined && this.#open.delete(path))
      this.#lines.tryMark(`section_end:${seconds(at)}:${name}\r${CLEAR}`);
    this.#names.delete(path);
  }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}
