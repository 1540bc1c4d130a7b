import type { GraphJob } from "@steps/pipeline";

/** A job as a graph shows it. */
export interface GraphNode extends GraphJob {
  readonly stage?: string;
  /** True for what no one wrote: the point where a stage begins. */
  readonly isGate?: boolean;
}

/** A job as `--list` shows it. */
export interface ListedJob {
  /** The name of the job or the instance. */
  readonly job: string;
  /** Absent in a language without stages. */
  readonly stage?: string;
  /** True for a job that is in the pipeline, or whose condition needs the outputs of others. */
  readonly isIn: boolean;
  /** When it starts: `on_success`, `manual`, `never`. Absent in a language without the word. */
  readonly when?: string;
  /** Whether the pipeline passes although it fails: `false`, `true`, or the exit codes. Absent in a language without the word. */
  readonly allowFailure?: boolean | readonly number[];
  /** The jobs that it needs by name. Absent for one that waits for all stages before its own. */
  readonly needs?: readonly string[];
  /** Why it is in or out, in one sentence. Absent where nothing says so. */
  readonly reason?: string;
  /** The place of what decided, `FILE:LINE`; else that of the job. Absent where it is not known. */
  readonly place?: string;
  /** Whether the reason is worth a word in a list for people: it was written in the file. */
  readonly isReasonWritten?: boolean;
}
