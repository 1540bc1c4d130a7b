import { createChain, parseChain, type ParsedChain } from "../chain.ts";
import type { PipelineJournalEvent } from "./pipeline-journal-event.ts";

/** Turns events of a pipeline into the lines of its journal, as `createJournal()` does with those of a run. */
export interface PipelineJournalWriter {
  /** One line with its line feed: `{"seq", "prev", "type", …}`. */
  encode(event: PipelineJournalEvent): string;
  /** SHA-256 of the last line without its line feed; 64 zeros before the first. */
  readonly root: string;
  readonly count: number;
}

// The members of stored events that a fold over them relies on.
const SHAPES: Readonly<Record<PipelineJournalEvent["type"], Readonly<Record<string, "string" | "object" | "number">>>> =
  {
    "pipeline-started": { traceId: "string", runner: "object", source: "string" },
    "file-read": { path: "string", sha256: "string" },
    "job-planned": { caller: "string", job: "string", needs: "object" },
    "job-decided": { caller: "string", job: "string", instances: "object" },
    "instance-delayed": { caller: "string", job: "string", instance: "string", delayMs: "number" },
    "instance-started": { caller: "string", job: "string", instance: "string" },
    "attempt-started": { caller: "string", job: "string", instance: "string", traceId: "string" },
    "attempt-ended": { caller: "string", job: "string", instance: "string", traceId: "string" },
    "instance-ended": { caller: "string", job: "string", instance: "string", result: "object" },
    "job-ended": { caller: "string", job: "string", result: "object" },
    "pipeline-note": { message: "string" },
    "pipeline-finished": { status: "string" },
  };

/** A new, empty journal of a pipeline. */
export function createPipelineJournal(): PipelineJournalWriter {
  const chain = createChain();
  return {
    encode: (event) => chain.append(JSON.stringify(event)),
    get root() {
      return chain.root;
    },
    get count() {
      return chain.count;
    },
  };
}

/**
 * Reads the journal of a pipeline back. The last line may be torn, it is left out then.
 *
 * @throws {TraceError} JOURNAL_CORRUPT with the number of the first line, from 1, that is not what was written
 */
export function parsePipelineJournal(text: string): ParsedChain<PipelineJournalEvent> {
  return parseChain(text, (event) => shapeProblem(event) ?? (event as unknown as PipelineJournalEvent));
}

function shapeProblem(event: Record<string, unknown>): string | undefined {
  const { type, at } = event;
  if (typeof type !== "string" || !Object.hasOwn(SHAPES, type)) return "unknown type of event";
  if (typeof at !== "number") return "no time of the event";
  for (const [member, wanted] of Object.entries(SHAPES[type as PipelineJournalEvent["type"]])) {
    if (typeof event[member] !== wanted || event[member] === null) return `no "${member}"`;
  }
  return undefined;
}
