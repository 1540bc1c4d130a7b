import { readFileSync, statSync } from "node:fs";
import type { TraceJson } from "@steps/proto";
import { createRecorder } from "@steps/trace";
import { parseJournal } from "@steps/trace/journal";
import { EngineError } from "./engine-error.ts";

/** The contents of a journal. */
export interface FoldedJournal {
  readonly trace: TraceJson;
  /** Whether the run wrote its last event. */
  readonly isFinished: boolean;
  /** Whether the last line was cut off in the middle. */
  readonly isTorn: boolean;
}

const MAX_JOURNAL_BYTES = 512 * 1024 * 1024;

/**
 * Reads a journal and folds it to a trace. Steps run as the owner of the file: `expectedRoot`, the digest that its writer
 * kept to itself, tells whether one of them wrote in it.
 *
 * @throws {EngineError} JOURNAL_NOT_FOUND, JOURNAL_CHANGED
 * @throws {TraceError} JOURNAL_CORRUPT
 */
export function foldJournal(path: string, expectedRoot?: string): FoldedJournal {
  const { size } = statSync(path);
  if (size > MAX_JOURNAL_BYTES) {
    throw new EngineError("JOURNAL_NOT_FOUND", `Cannot read journal "${path}": it has ${size} bytes`);
  }
  const { events, root, isTorn } = parseJournal(readFileSync(path, "utf8"));
  if (expectedRoot !== undefined && root !== expectedRoot) {
    throw new EngineError(
      "JOURNAL_CHANGED",
      `Cannot trust journal "${path}": something else than the runner wrote in it`,
    );
  }
  const recorder = createRecorder();
  for (const event of events) recorder.apply(event);
  const isFinished = events.some((event) => event.type === "run-finished");
  const trace = recorder.trace({ journalRoot: root, journalEvents: events.length, isRecovered: !isFinished });
  return { trace, isFinished, isTorn };
}
