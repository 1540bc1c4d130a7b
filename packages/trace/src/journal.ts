import { hash } from "node:crypto";
import type { ValJson } from "@steps/proto";
import { TraceError } from "./error.ts";
import type { JournalEvent, JournalRunStarted } from "./journal-event.ts";
import { decodeStart, encodeStart, type StoredStart } from "./journal-start.ts";

/** Turns events into the lines of a journal: each names the SHA-256 of the line before it. */
export interface JournalWriter {
  /** One line with its line feed: `{"seq", "prev", "type", …}`. */
  encode(event: JournalEvent): string;
  /** SHA-256 of the last line without its line feed; 64 zeros before the first. */
  readonly root: string;
  readonly count: number;
}

/** The part of a journal that could be read. */
export interface ParsedJournal {
  readonly events: JournalEvent[];
  readonly root: string;
  /** The last line was cut or mangled, as by a crash while it was written. */
  readonly isTorn: boolean;
}

/** The digest that the first line names as that of its predecessor. */
const START: string = "0".repeat(64);

// The members of stored events that a fold over them relies on.
const SHAPES: Readonly<Record<JournalEvent["type"], readonly string[]>> = {
  "run-started": ["request", "request.definition", "request.inputs", "request.env", "runner", "runtime"],
  "step-opened": [],
  "variable-read": ["value"],
  "component-resolved": ["resource", "resource.digest", "fetch"],
  "step-planned": [
    "specDefinition",
    "inputs",
    "invocation",
    "invocation.inputs",
    "invocation.env",
    "definitionEnv",
    "places",
  ],
  "process-starting": ["command", "env", "tools", "places"],
  "process-started": [],
  "secret-found": [],
  "step-finished": ["outputs", "exports"],
  note: [],
  "run-finished": ["outcome", "outputs"],
};
const STEP_PATH = /^(?:\d{1,6}(?:\/\d{1,6}){0,127})?$/;

/** A new, empty journal. */
export function createJournal(): JournalWriter {
  let root = START;
  let count = 0;
  const variables: VariableTexts = new WeakMap();
  return {
    encode(event) {
      const line = `{"seq":${count},"prev":"${root}",${encodeEvent(event, variables).slice(1)}`;
      root = hash("sha256", line);
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

type VariableTexts = WeakMap<ValJson, { readonly name: string; readonly text: string }>;

// The environment is most of a journal, and most of it is the same objects in every step: each is encoded once.
function encodeEvent(event: JournalEvent, variables: VariableTexts): string {
  if (event.type === "run-started") return JSON.stringify(encodeStart(event));
  if (event.type !== "process-starting") return JSON.stringify(event);
  const { env, ...rest } = event;
  const members = Object.keys(env).map((name) => {
    const val = env[name] as ValJson;
    let known = variables.get(val);
    if (known?.name !== name) {
      known = { name, text: `${JSON.stringify(name)}:${JSON.stringify(val)}` };
      variables.set(val, known);
    }
    return known.text;
  });
  return `${JSON.stringify(rest).slice(0, -1)},"env":{${members.join(",")}}}`;
}

/**
 * Reads a journal back. The last line may be torn, it is left out then.
 *
 * @throws {TraceError} JOURNAL_CORRUPT with the number of the first line, from 1, that is not what was written
 */
export function parseJournal(text: string): ParsedJournal {
  const lines = text.split("\n");
  const hasEnd = lines.at(-1) === "";
  if (hasEnd) lines.pop();
  const events: JournalEvent[] = [];
  let root = START;
  for (const [index, line] of lines.entries()) {
    const json = parseLine(line);
    // Only a line that is no JSON was cut: one that is, and does not fit, says that what is before it was changed.
    if (json === undefined && index === lines.length - 1) return { events, root, isTorn: true };
    const read = readLine(json, { seq: index, prev: root });
    if (typeof read === "string") {
      throw new TraceError("JOURNAL_CORRUPT", `Cannot read journal: line ${index + 1}: ${read}`);
    }
    events.push(read);
    root = hash("sha256", line);
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

/** The event of a line, or what is wrong with it. */
function readLine(read: unknown, expected: { readonly seq: number; readonly prev: string }): JournalEvent | string {
  if (read === undefined) return "malformed JSON";
  if (typeof read !== "object" || read === null || Array.isArray(read)) return "not an object";
  const { seq, prev, ...event } = read as Record<string, unknown>;
  if (seq !== expected.seq) return `sequence number is not ${expected.seq}`;
  if (prev !== expected.prev) return "the line before is not the one that was written";
  return shapeProblem(event) ?? decodeEvent(event as unknown as StoredEvent);
}

type StoredEvent = Exclude<JournalEvent, JournalRunStarted> | StoredStart;

function decodeEvent(event: StoredEvent): JournalEvent {
  return event.type === "run-started" ? decodeStart(event) : event;
}

function shapeProblem(event: Record<string, unknown>): string | undefined {
  const { type, at, path } = event;
  if (typeof type !== "string" || !Object.hasOwn(SHAPES, type)) return "unknown type of event";
  if (typeof at !== "number") return "no time of the event";
  if (path !== undefined && (typeof path !== "string" || !STEP_PATH.test(path))) return "malformed path of a step";
  if (path === undefined && type !== "run-started" && type !== "run-finished") return "no path of a step";
  for (const member of SHAPES[type as JournalEvent["type"]]) {
    let value: unknown = event;
    for (const key of member.split(".")) value = (value as Record<string, unknown>)[key];
    if (typeof value !== "object" || value === null) return `no "${member}"`;
  }
  return undefined;
}
