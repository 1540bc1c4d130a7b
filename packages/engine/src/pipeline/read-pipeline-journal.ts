import { readFileSync, statSync } from "node:fs";
import { parsePipelineJournal } from "@steps/trace/pipeline";
import { EngineError } from "../engine-error.ts";

const MAX_JOURNAL_BYTES = 512 * 1024 * 1024;

/**
 * Reads the journal of a pipeline.
 *
 * @throws {EngineError} JOURNAL_NOT_FOUND if it is too large
 * @throws {TraceError} JOURNAL_CORRUPT
 */
export function readPipelineJournal(path: string): ReturnType<typeof parsePipelineJournal> {
  const { size } = statSync(path);
  if (size <= MAX_JOURNAL_BYTES) return parsePipelineJournal(readFileSync(path, "utf8"));
  throw new EngineError("JOURNAL_NOT_FOUND", `Cannot read journal "${path}": it has ${size} bytes`);
}
