import type { IncomingMessage } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { badRequest, HttpError, tooLarge } from "./http-error.ts";

/** How much of a refused upload is read and dropped, so that its sender gets to read the answer. */
const MAX_DRAIN_BYTES = 8 * 1024 ** 2;
const MAX_DRAIN_MS = 1_000;

/** The chunks of a body; leaving the loop early leaves the connection alive, so that an answer can be sent. */
export function chunksOf(request: IncomingMessage): AsyncIterable<Buffer> {
  return request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
}

/** The length that a body's sender promised (Node holds it to that); 411 without one. */
export function contentLength(request: IncomingMessage): number {
  const header = request.headers["content-length"];
  if (header === undefined) throw new HttpError(411, "invalid_argument", "An upload needs a Content-Length");
  const length = Number(header);
  if (!Number.isSafeInteger(length)) throw badRequest("Content-Length is not a size");
  return length;
}

/** A body as a whole, for what is small by nature; 413 beyond the limit. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) throw tooLarge("The request is too large");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunksOf(request)) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge("The request is too large");
    chunks.push(chunk);
  }
  // The work that follows may take long on a disk, and the connection is rightly silent meanwhile.
  request.socket.setTimeout(0);
  return Buffer.concat(chunks);
}

/** A body that is a JSON object, keys as they come. */
export async function readJsonObject(request: IncomingMessage, maxBytes: number): Promise<Record<string, unknown>> {
  return parseJsonObject((await readBody(request, maxBytes)).toString("utf8"));
}

/** A JSON object; 400 for everything else. */
export function parseJsonObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw badRequest("The request is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw badRequest("The request is not a JSON object");
  }
  return value as Record<string, unknown>;
}

/** Reads on and throws away, for a while: a sender that is still writing does not look for an answer. */
export async function drain(request: IncomingMessage): Promise<void> {
  if (request.complete || request.destroyed) return;
  let left = MAX_DRAIN_BYTES;
  const controller = new AbortController();
  const read = async (): Promise<void> => {
    for await (const chunk of chunksOf(request)) {
      left -= chunk.length;
      if (left <= 0) return;
    }
  };
  const timer = delay(MAX_DRAIN_MS, undefined, { signal: controller.signal }).catch(() => undefined);
  await Promise.race([read().catch(() => undefined), timer]);
  controller.abort();
}
