import type { ValJson } from "@steps/proto";
import { createChain, parseChain, type ParsedChain } from "./chain.ts";
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
export type ParsedJournal = ParsedChain<JournalEvent>;

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
  const chain = createChain();
  const variables: VariableTexts = new WeakMap();
  return {
    encode: (event) => chain.append(encodeEvent(event, variables)),
    get root() {
      return chain.root;
    },
    get count() {
      return chain.count;
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
  return parseChain(text, (event) => shapeProblem(event) ?? decodeEvent(event as unknown as StoredEvent));
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
