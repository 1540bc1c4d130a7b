import { sha256 } from "@steps/platform";
import { TraceError } from "./error.ts";

/** Makes the lines of a journal out of the JSON of events: each names the SHA-256 of the line before it. */
export interface Chain {
  /** One line with its line feed, of the JSON text of an object. */
  append(json: string): string;
  /** SHA-256 of the last line without its line feed; 64 zeros before the first. */
  readonly root: string;
  readonly count: number;
}

/** The part of a journal that could be read. */
export interface ParsedChain<Event> {
  readonly events: Event[];
  readonly root: string;
  /** The last line was cut or mangled, as by a crash while it was written. */
  readonly isTorn: boolean;
}

/** The digest that the first line names as that of its predecessor. */
const START: string = "0".repeat(64);

/** A new, empty chain. */
export function createChain(): Chain {
  let root = START;
  let count = 0;
  return {
    append(json) {
      const line = `{"seq":${count},"prev":"${root}",${json.slice(1)}`;
      root = sha256(line);
      count += 1;
      return `${line}\n`;
    },
    get root() {
      return root;
    },
    get count() {
      return count;
    },
  };
}

/**
 * Reads lines back. The last line may be torn, it is left out then. `read` gives the event of an object, or what is wrong with it.
 *
 * @throws {TraceError} JOURNAL_CORRUPT with the number of the first line, from 1, that is not what was written
 */
export function parseChain<Event extends object>(
  text: string,
  read: (event: Record<string, unknown>) => Event | string,
): ParsedChain<Event> {
  const lines = text.split("\n");
  const hasEnd = lines.at(-1) === "";
  if (hasEnd) lines.pop();
  const events: Event[] = [];
  let root = START;
  for (const [index, line] of lines.entries()) {
    const json = parseLine(line);
    // Only a line that is no JSON was cut: one that is, and does not fit, says that what is before it was changed.
    if (json === undefined && index === lines.length - 1) return { events, root, isTorn: true };
    const link = readLink(json, { seq: index, prev: root });
    const event = typeof link === "string" ? link : read(link);
    if (typeof event === "string") {
      throw new TraceError("JOURNAL_CORRUPT", `Cannot read journal: line ${index + 1}: ${event}`);
    }
    events.push(event);
    root = sha256(line);
  }
  return { events, root, isTorn: !hasEnd && lines.length > 0 };
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function readLink(
  json: unknown,
  expected: { readonly seq: number; readonly prev: string },
): Record<string, unknown> | string {
  if (json === undefined) return "malformed JSON";
  if (typeof json !== "object" || json === null || Array.isArray(json)) return "not an object";
  const { seq, prev, ...event } = json as Record<string, unknown>;
  if (seq !== expected.seq) return `sequence number is not ${expected.seq}`;
  if (prev !== expected.prev) return "the line before is not the one that was written";
  return event;
}
