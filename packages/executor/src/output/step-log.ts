import type { LogSummary } from "@steps/model/event";

/** Takes the output of one process. */
export interface StepLog {
  /** A promise holds the stream back until it is fulfilled. */
  write(stream: "stdout" | "stderr", chunk: Uint8Array): void | Promise<void>;
  /** Called once, after the last chunk. */
  close(): LogSummary | undefined | Promise<LogSummary | undefined>;
}
