import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { HttpServerOptions, ServedRequest } from "./http-intervention.ts";
import { startHttpServer } from "./http-intervention.ts";

/** How often each service was used. `lsRefs` and `fetch` are told apart by the body of the request. */
export interface GitRequestCounts {
  infoRefs: number;
  lsRefs: number;
  fetch: number;
  receivePack: number;
}

export type GitHttpServerOptions = HttpServerOptions;

/** A git server over HTTP: the real `git http-backend` behind a small server. */
export interface GitHttpServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`; a repository in `ROOT/name` is at `URL/name` and `URL/name.git`. */
  readonly url: string;
  readonly requests: readonly ServedRequest[];
  readonly counts: GitRequestCounts;
  close(): Promise<void>;
}

/** Serves every repository below `rootDir`, bare or not. */
export async function startGitHttpServer(rootDir: string, options: GitHttpServerOptions = {}): Promise<GitHttpServer> {
  const counts: GitRequestCounts = { infoRefs: 0, lsRefs: 0, fetch: 0, receivePack: 0 };
  const server = await startHttpServer(options, async (request, response) => {
    const body = await readBody(request);
    count(request, body, counts);
    await runBackend({ rootDir, request, response, body });
  });
  return { ...server, counts, [Symbol.asyncDispose]: () => server.close() };
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function count(request: IncomingMessage, body: Buffer, counts: GitRequestCounts): void {
  const url = request.url ?? "";
  if (url.includes("/info/refs")) counts.infoRefs += 1;
  else if (url.endsWith("/git-receive-pack")) counts.receivePack += 1;
  else if (url.endsWith("/git-upload-pack")) {
    const text = (request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body).toString("latin1");
    if (text.includes("command=ls-refs")) counts.lsRefs += 1;
    else if (text.includes("want ")) counts.fetch += 1;
  }
}

async function runBackend(call: {
  rootDir: string;
  request: IncomingMessage;
  response: ServerResponse;
  body: Buffer;
}): Promise<void> {
  const { rootDir, request, response, body } = call;
  const url = new URL(request.url ?? "/", "http://localhost");
  const child = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env["PATH"],
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_PROJECT_ROOT: rootDir,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: repositoryPath(rootDir, decodeURIComponent(url.pathname)),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? "GET",
      REMOTE_ADDR: "127.0.0.1",
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      CONTENT_LENGTH: String(body.byteLength),
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.on("error", () => undefined);
  child.stdin.end(body);
  response.on("close", () => child.kill("SIGKILL"));
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    if (head === undefined) {
      if (!response.write(chunk))
        await new Promise((resolve) => response.once("drain", resolve).once("close", resolve));
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) continue;
    writeHead(response, head.subarray(0, end).toString("latin1"));
    response.write(head.subarray(end + 4));
    head = undefined;
  }
  if (head !== undefined) response.writeHead(500);
  response.end();
}

/** `/name.git/info/refs` also names a repository in the folder `name`. */
function repositoryPath(rootDir: string, path: string): string {
  const match = /^\/(.+?)\.git(\/.*)$/.exec(path);
  if (match === null || existsSync(join(rootDir, `${match[1]}.git`))) return path;
  return `/${match[1]}${match[2]}`;
}

function writeHead(response: ServerResponse, head: string): void {
  let status = 200;
  for (const line of head.split("\r\n")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).trim();
    if (name.toLowerCase() === "status") status = Number.parseInt(value, 10);
    else response.setHeader(name, value);
  }
  response.writeHead(status);
}
