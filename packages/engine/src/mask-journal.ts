import { readFileSync } from "node:fs";
import { type JournalEvent, parseJournal } from "@steps/trace/journal";
import { type Masker, redactAgain } from "@steps/trace/mask";
import { EngineError } from "./engine-error.ts";

/**
 * Returns the contents that a journal must have once all secrets of its run are known, with the events that a full disk
 * kept out of it; absent when nothing in it has to change.
 *
 * @throws {EngineError} JOURNAL_CHANGED when it is not what the run wrote
 * @throws {TraceError} JOURNAL_CORRUPT
 */
export function maskedJournal(
  path: string,
  expectedRoot: string,
  { masker, unwritten }: { readonly masker: Masker; readonly unwritten: readonly JournalEvent[] },
): readonly JournalEvent[] | undefined {
  const { events: written, root } = parseJournal(readFileSync(path, "utf8"));
  if (root !== expectedRoot) {
    throw new EngineError(
      "JOURNAL_CHANGED",
      `Cannot mask journal "${path}": something else than the runner wrote in it`,
    );
  }
  const events = [...written, ...unwritten];
  const masked = redactAgain(events, masker);
  return masked.every((event, at) => event === events[at]) ? undefined : masked;
}
