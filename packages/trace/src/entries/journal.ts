export { createJournal, parseJournal, type JournalWriter, type ParsedJournal } from "../journal.ts";
export type { JournalEvent } from "../journal-event.ts";
