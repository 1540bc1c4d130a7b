import { randomUUID } from "node:crypto";
import { Client, type ClientConfig } from "pg";
import type { Database } from "./database.ts";

const CHANNEL = "steps_pod";
/** Hints of this time are sent together, since each one takes a lock of the whole database for a moment. */
const COLLECT_MS = 8;
const RECONNECT_MS = 1_000;

type Execute = (text: string, values: unknown[]) => Promise<void>;

/** Hints by LISTEN and NOTIFY: own listeners hear at once, those of other processes within milliseconds. */
export function openHints(settings: ClientConfig, execute: Execute): Pick<Database, "hint" | "onHint" | "close"> {
  const self = randomUUID();
  const listeners = new Set<(text: string) => void>();
  const waiting = new Set<string>();
  let sending: NodeJS.Timeout | undefined;
  const tell = (text: string): void => {
    for (const listener of listeners) listener(text);
  };
  const hear = (payload = ""): void => {
    const { from, texts } = readHints(payload);
    if (from !== self) texts.forEach(tell);
  };
  const ear = keepListening(settings, hear);
  const send = (): void => {
    sending = undefined;
    const payload = JSON.stringify({ from: self, texts: [...waiting].slice(0, 100) });
    waiting.clear();
    // A hint that is lost costs the time of a safety tick.
    execute("SELECT pg_notify($1, $2)", [CHANNEL, payload]).catch(() => {});
  };
  return {
    hint(text) {
      queueMicrotask(() => tell(text));
      waiting.add(text);
      sending ??= setTimeout(send, COLLECT_MS);
    },
    onHint: (listener) => void listeners.add(listener),
    async close() {
      clearTimeout(sending);
      await ear();
    },
  };
}

/** What another process said. Whoever may use the database may say anything on the channel, and must not end a pod by it. */
function readHints(payload: string): { readonly from: unknown; readonly texts: readonly string[] } {
  try {
    const { from, texts } = JSON.parse(payload) as { readonly from?: unknown; readonly texts?: unknown };
    const isKnown = Array.isArray(texts) && texts.every((text) => typeof text === "string");
    return { from, texts: isKnown ? texts : [] };
  } catch {
    return { from: undefined, texts: [] };
  }
}

/** Keeps a connection of its own that listens, and makes a new one when it is lost. Gives what ends it. */
function keepListening(settings: ClientConfig, hear: (payload?: string) => void): () => Promise<void> {
  let isClosed = false;
  let client: Client | undefined;
  let again: NodeJS.Timeout | undefined;
  const retry = (): void => {
    if (!isClosed) again = setTimeout(() => void connect(), RECONNECT_MS);
  };
  const connect = async (): Promise<void> => {
    const own = new Client(settings);
    client = own;
    own.on("notification", ({ payload }) => hear(payload));
    own.on("error", () => {});
    own.once("end", retry);
    try {
      await own.connect();
      await own.query(`LISTEN ${CHANNEL}`);
    } catch {
      await own.end().catch(() => {});
    }
  };
  void connect();
  return async () => {
    isClosed = true;
    clearTimeout(again);
    await client?.end().catch(() => {});
  };
}
