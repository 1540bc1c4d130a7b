import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "vitest";
import type { Services } from "../src/index.ts";

/** A client that speaks by hand. */
export interface Wire {
  readonly baseUrl: string;
  readonly token: string;
  /** Sends a request with the token; the path is below the base URL, or a whole URL (then without the token). */
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<Reply>;
  /** Calls a Twirp method in JSON. */
  readonly call: (service: "Cache" | "Artifact", method: string, message: object) => Promise<Reply>;
  /** Saves a cache by v2 and expects that to work. */
  readonly save: (key: string, content: string | Uint8Array, version?: string) => Promise<void>;
  /** Looks a cache up by v2: its key, or undefined. */
  readonly find: (keys: readonly string[], version?: string) => Promise<string | undefined>;
  /** Writes raw bytes on a connection of their own and gives all that comes back until it is closed. */
  readonly raw: (text: string) => Promise<string>;
}

interface SendOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | object;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  readonly text: string;
  /** The body as JSON, or an empty object. */
  readonly json: Record<string, unknown>;
}

/** Speaks to services with their token. */
export function openWire(services: Services): Wire {
  const baseUrl = services.env["ACTIONS_RESULTS_URL"] ?? "";
  const token = services.env["ACTIONS_RUNTIME_TOKEN"] ?? "";
  const send: Wire["send"] = async (method, path, { headers = {}, body } = {}) => {
    const isWhole = path.startsWith("http");
    const authorization = isWhole ? {} : { Authorization: `Bearer ${token}` };
    const isObject = typeof body === "object" && !(body instanceof Uint8Array);
    const response = await fetch(isWhole ? path : `${baseUrl}${path}`, {
      method,
      headers: { ...authorization, ...(isObject ? { "Content-Type": "application/json" } : {}), ...headers },
      body: body === undefined ? undefined : isObject ? JSON.stringify(body) : asBody(body),
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const text = bytes.toString("utf8");
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true;
    const json = isJson ? (JSON.parse(text) as Record<string, unknown>) : {};
    return { status: response.status, headers: response.headers, bytes, text, json };
  };
  const call: Wire["call"] = async (service, method, message) =>
    await send("POST", `twirp/github.actions.results.api.v1.${service}Service/${method}`, { body: message });
  return {
    baseUrl,
    token,
    send,
    call,
    save: async (key, content, version = "v") => {
      const created = await call("Cache", "CreateCacheEntry", { key, version });
      expect(created.json).toMatchObject({ ok: true });
      const url = String(created.json["signed_upload_url"]);
      expect((await send("PUT", url, { body: content, headers: { "x-ms-blob-type": "BlockBlob" } })).status).toBe(201);
      const size_bytes = String(Buffer.byteLength(content));
      const finished = await call("Cache", "FinalizeCacheEntryUpload", { key, version, size_bytes });
      expect(finished.json).toMatchObject({ ok: true });
    },
    find: async ([key, ...restore_keys], version = "v") => {
      const { json } = await call("Cache", "GetCacheEntryDownloadURL", { key, restore_keys, version });
      return json["matched_key"] as string | undefined;
    },
    raw: async (text) => {
      const { hostname, port } = new URL(baseUrl);
      const socket = connect(Number(port), hostname);
      let received = "";
      socket.on("data", (chunk) => (received += chunk.toString("latin1")));
      // A refusal may reach us as a reset, after the answer.
      socket.on("error", () => undefined);
      socket.write(text);
      await once(socket, "close");
      return received;
    },
  };
}

function asBody(body: string | Uint8Array | object): string | Uint8Array<ArrayBuffer> {
  return typeof body === "string" ? body : new Uint8Array(body as Uint8Array);
}
