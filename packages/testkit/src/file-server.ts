import { createHash } from "node:crypto";
import type { HttpServerOptions, ServedRequest } from "./http-intervention.ts";
import { startHttpServer } from "./http-intervention.ts";

export interface FileServerOptions extends HttpServerOptions {
  /** Answers without an ETag, so that clients cannot revalidate. */
  readonly hasNoEtag?: boolean;
}

/** A server of files held in memory, with ETags and conditional requests. */
export interface FileServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without a slash at the end. */
  readonly url: string;
  readonly requests: readonly ServedRequest[];
  /** Adds or replaces a file; the path starts with `/`. */
  set(path: string, content: string | Uint8Array): void;
  close(): Promise<void>;
}

/** Serves files by path (`/a.zip`). */
export async function startFileServer(
  files: Readonly<Record<string, string | Uint8Array>>,
  options: FileServerOptions = {},
): Promise<FileServer> {
  const contents = new Map(Object.entries(files));
  const server = await startHttpServer(options, (request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const content = contents.get(path);
    if (content === undefined) return void response.writeHead(404).end("not found");
    const etag = `"${createHash("sha256").update(content).digest("hex")}"`;
    if (options.hasNoEtag !== true) response.setHeader("etag", etag);
    if (request.headers["if-none-match"] === etag) return void response.writeHead(304).end();
    response.writeHead(200, { "content-length": Buffer.byteLength(content) });
    return void response.end(request.method === "HEAD" ? undefined : content);
  });
  return {
    ...server,
    set: (path, content) => void contents.set(path, content),
    [Symbol.asyncDispose]: () => server.close(),
  };
}
