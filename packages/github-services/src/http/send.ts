import type { FileHandle } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { HttpError } from "./http-error.ts";
import { parseRange } from "./ranges.ts";

/** Answers with JSON. */
export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  sendBytes(response, status, { type: "application/json; charset=utf-8", body: Buffer.from(JSON.stringify(value)) });
}

/** Answers with a body that is at hand. */
export function sendBytes(
  response: ServerResponse,
  status: number,
  content: { readonly type: string; readonly body: Buffer },
): void {
  response.writeHead(status, { "Content-Type": content.type, "Content-Length": content.body.length });
  response.end(content.body);
}

/** Answers with a status alone. */
export function sendEmpty(response: ServerResponse, status: number): void {
  response.writeHead(status, status === 204 ? {} : { "Content-Length": 0 });
  response.end();
}

/** The description of a file for the client that downloads it. */
export interface FileAnswer {
  readonly type: string;
  /** Name to save it under. */
  readonly fileName?: string;
  /** A text that changes with the content. */
  readonly etag: string;
  readonly modifiedAtMs: number;
}

/**
 * Answers GET and HEAD with a file or with the range asked for by `Range` or Azure's `x-ms-range`. The handle stays the
 * caller's.
 */
export async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  file: { readonly handle: FileHandle; readonly size: number; readonly answer: FileAnswer },
): Promise<void> {
  const { handle, size, answer } = file;
  const asked = request.headers["x-ms-range"] ?? request.headers.range;
  const range = parseRange(Array.isArray(asked) ? asked[0] : asked, size);
  if (range === undefined) {
    response.setHeader("Content-Range", `bytes */${size}`);
    throw new HttpError(416, "out_of_range", "Nothing is there at this range");
  }
  const { start, end } = range === "whole" ? { start: 0, end: size } : range;
  response.writeHead(range === "whole" ? 200 : 206, {
    "Content-Type": answer.type,
    "Content-Length": end - start,
    "Accept-Ranges": "bytes",
    "Last-Modified": new Date(answer.modifiedAtMs).toUTCString(),
    ETag: `"${answer.etag}"`,
    "x-ms-blob-type": "BlockBlob",
    ...(range === "whole" ? {} : { "Content-Range": `bytes ${start}-${end - 1}/${size}` }),
    ...(answer.fileName === undefined ? {} : { "Content-Disposition": disposition(answer.fileName) }),
  });
  if (request.method === "HEAD" || end === start) {
    response.end();
    return;
  }
  await pipeline(
    handle.createReadStream({ start, end: end - 1, autoClose: false, highWaterMark: 256 * 1024 }),
    response,
  );
}

/** RFC 6266 with the name in UTF-8, and a plain one for clients that only read that. */
function disposition(fileName: string): string {
  const plain = fileName.replaceAll(/[^\w.+ -]/g, "_");
  const encoded = encodeURIComponent(fileName).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${encoded}`;
}
