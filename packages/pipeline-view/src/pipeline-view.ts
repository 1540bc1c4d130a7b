import { errors, output, type OutputWriter, type ProgressMode, terminalOf } from "@steps/console/terminal";
import { printable } from "@steps/model/diagnostic";
import type { PipelineEvent } from "@steps/model/pipeline";
import { formatDuration } from "@steps/trace";
import type { JournalEvent } from "@steps/trace/journal";
import { createMasker } from "@steps/trace/mask";
import { firstLine } from "./columns.ts";
import { LinePrefix } from "./line-prefix.ts";
import { type PipelineRow, PipelineRows } from "./pipeline-rows.ts";
import { JobRecord } from "./progress/job-record.ts";
import { LiveView } from "./progress/live-view.ts";
import { PlainLines } from "./progress/plain-lines.ts";
import { ProgressTree } from "./progress/progress-tree.ts";
import { summarise } from "./progress/summary.ts";
import type { OrderedJob } from "./row-order.ts";

/** More of them push the table out of sight. */
const MAX_EXPLAINED = 3;

/** How a pipeline is shown. */
export interface ViewOptions {
  /** The texts that are masked wherever they turn up, also in the names of jobs. Default: none. */
  readonly maskedValues?: readonly string[];
  readonly isQuiet: boolean;
  /** How it is shown unless it is quiet. Default: lines when jobs begin and end. */
  readonly mode?: ProgressMode;
  /** When true, standard output is left to a report, and the output of jobs goes to standard error. */
  readonly hasReport: boolean;
}

/**
 * Shows a pipeline while it runs: as a tree that grows, or with a line when a job starts and ends; and the output of jobs behind their
 * names.
 */
export class PipelineView {
  readonly #rows = new PipelineRows();
  readonly #terminal = terminalOf(2);
  readonly #options: ViewOptions;
  readonly #masker = createMasker();

  readonly #tree = new ProgressTree(Date.now(), "");
  readonly #live: LiveView | undefined;
  readonly #plain: PlainLines | undefined;
  readonly #explanations = new Map<string, string>();

  constructor(options: ViewOptions) {
    this.#options = options;
    for (const value of options.maskedValues ?? []) this.#masker.add(value);
    const { isQuiet, mode } = options;
    if (!isQuiet && mode === "tree") this.#live = new LiveView(this.#tree, (text) => this.#masker.text(text));
    if (!isQuiet && mode === "plain") this.#plain = new PlainLines(this.#tree);
  }

  /** The rows of everything that has ended, masked. */
  get rows(): readonly PipelineRow[] {
    const mask = (text: string | undefined): string | undefined => text && this.#masker.text(text);
    return this.#rows.rows.map((row) => ({ ...row, job: this.#masker.text(row.job), reason: mask(row.reason) }));
  }

  /** The jobs that a pipeline has, in the order of its file or of its stages. @param path as for `onEvent` */
  planned(jobs: readonly OrderedJob[], path: string): void {
    this.#rows.planned(jobs, path);
  }

  /** @param path the names of the calling jobs, each with ` / ` behind it; empty for the outermost pipeline */
  readonly onEvent = (event: PipelineEvent, path: string): void => {
    const row = this.#rows.apply(event, path, performance.now());
    this.#tree.applyJob(event, path, Date.now());
    if (this.#options.isQuiet || this.#live !== undefined) return;
    if (event.type === "instance-started")
      this.#say(this.#terminal.dim(printable(`${path}${event.instance}: started`)));
    if (event.type === "instance-delayed")
      this.#say(this.#terminal.dim(`${path}${event.instance}: starts in ${formatDuration(event.delayMs)}`));
    if (event.type === "instance-retried") {
      const { attempt, result } = event;
      this.#say(this.#terminal.dim(`${path}${event.instance}: attempt ${attempt} failed: ${firstLine(result.reason)}`));
    }
    if (row !== undefined) this.#say(this.#terminal.dim(sentence(row)));
  };

  /** Takes an event of the run of a job. @param name the name of its instance, behind those that call its pipeline */
  onStepEvent(name: string, event: JournalEvent): void {
    if (this.#live === undefined && this.#plain === undefined) return;
    this.#tree.apply(event, name);
    for (const line of this.#plain?.linesOf(event, name) ?? []) this.#say(this.#terminal.dim(line));
  }

  /** A record of a job by which its failure can be explained; none where no explanation is shown. */
  recordJob(): JobRecord | undefined {
    return this.#live === undefined && this.#plain === undefined ? undefined : new JobRecord();
  }

  /** Keeps the lines that explain why an instance has failed, until the end. @param name as for `onStepEvent` */
  explain(name: string, lines: string): void {
    this.#explanations.set(name, lines);
  }

  /** The explanations of the failures that count, in the order of the rows, below the reason of each. */
  get explanations(): string {
    const failed = this.#rows.rows.filter(({ job, result }) => result === "failure" && this.#explanations.has(job));
    const shown = failed.slice(0, MAX_EXPLAINED).map(({ job, reason }) => {
      const heading = printable(`${job}: ${firstLine(reason)}`);
      return this.#masker.text(`\n${this.#terminal.bold(heading)}\n${this.#explanations.get(job)}`);
    });
    return shown.join("");
  }

  /** Takes the tree away while a person is asked something, and draws it again after that. */
  async suspended<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#live?.suspend();
    try {
      return await work();
    } finally {
      this.#live?.resume();
    }
  }

  /** Takes the tree away for good. Gives a line that sums the jobs up, where a tree or plain lines were wanted, and else nothing. */
  end(): string {
    this.#live?.suspend();
    if (this.#live === undefined && this.#plain === undefined) return "";
    return `${this.#terminal.dim(summarise(this.#tree, Date.now()))}\n`;
  }

  /** Writers for the output of one job. */
  outputOf(name: string): {
    readonly stdout: LinePrefix;
    readonly stderr: LinePrefix;
    readonly end: () => Promise<void>;
  } {
    const prefix = this.#terminal.dim(`${printable(this.#masker.text(name))} | `);
    const to = (writer: OutputWriter): LinePrefix => new LinePrefix(writer, prefix);
    const [stdout, stderr] = [to(this.#options.hasReport ? errors : output), to(errors)];
    return {
      stdout,
      stderr,
      end: async () => {
        await stdout.end();
        await stderr.end();
      },
    };
  }

  #say(text: string): void {
    void errors.writeLines(`${this.#masker.text(text)}\n`);
  }
}

function sentence({ job, result, durationMs, attempts, reason = "" }: PipelineRow): string {
  const tries = attempts === undefined ? "" : ` and ${attempts} attempts`;
  const time = durationMs === undefined ? "" : ` after ${formatDuration(durationMs)}`;
  const ended = { success: "passed", failure: "failed", "allowed-failure": "failed, which is allowed" };
  const how = result === "skipped" || result === "cancelled" ? result : ended[result];
  return printable(`${job}: ${how}${time}${tries}${reason === "" ? "" : `: ${firstLine(reason)}`}`);
}
