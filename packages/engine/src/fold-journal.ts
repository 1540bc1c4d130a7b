import { readFileSync, statSync } from "node:fs";
import type { TraceJson } from "@steps/proto";
import { createRecorder, parseJournal } from "@steps/trace";
import { EngineError } from "./engine-error.ts";

/** What a journal says. */
export interface FoldedJournal {
  readonly trace: TraceJson;
  /** Whether the run wrote its last event. */
  readonly isFinished: boolean;
  /** Whether the last line was cut off in the middle. */
  readonly isTorn: boolean;
}

const MAX_JOURNAL_BYTES = 512 * 1024 * 1024;

/** Reads a journal and folds it to a trace. @throws {EngineError} JOURNAL_NOT_FOUND @throws {TraceError} JOURNAL_CORRUPT */
export function foldJournal(path: string): FoldedJournal {
  const { size } = statSync(path);
  if (size > MAX_JOURNAL_BYTES) {
    throw new EngineError("JOURNAL_NOT_FOUND", `Cannot read journal "${path}": it has ${size} bytes`);
  }
  const { events, root, isTorn } = parseJournal(readFileSync(path, "utf8"));
  const recorder = createRecorder();
  for (const event of events) recorder.apply(event);
  const isFinished = events.some((event) => event.type === "run-finished");
  const trace = recorder.trace({ journalRoot: root, journalEvents: events.length, isRecovered: !isFinished });
  return { trace, isFinished, isTorn };
}
