import { Agent as HttpAgent, type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { messageOf } from "@steps/model";
import { RunnerClientError } from "./client-error.ts";

/** The certificates by which a server is trusted and we are known, as PEM texts. */
export interface TlsFiles {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** One request. A body that is a stream is sent in chunks. */
export interface HttpCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string | Readable | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds without a byte from the server after which the call is lost. */
  readonly timeoutMs: number;
}

/** An answer whose body is still to be read. */
export interface HttpReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: IncomingMessage;
}

/** Sends requests over connections that are kept. */
export interface HttpSender {
  /** @throws {RunnerClientError} SERVER_UNREACHABLE, CLIENT_CONFIG, CANCELLED */
  send(call: HttpCall): Promise<HttpReply>;
  close(): void;
}

const IDLE = { keepAlive: true, keepAliveMsecs: 30_000, maxSockets: 100, maxFreeSockets: 100 };

/** A sender with connections of its own. */
export function createHttpSender(tls: TlsFiles): HttpSender {
  const plain = new HttpAgent(IDLE);
  const secure = new HttpsAgent({ ...IDLE, ...tls, minVersion: "TLSv1.2" });
  return {
    send: (call) => sendOver(call, { plain, secure }),
    close() {
      plain.destroy();
      secure.destroy();
    },
  };
}

async function sendOver(call: HttpCall, agents: { plain: HttpAgent; secure: HttpsAgent }): Promise<HttpReply> {
  const { method, url, body, signal } = call;
  signal?.throwIfAborted();
  const isSecure = url.startsWith("https:");
  const headers =
    typeof body === "string" ? { ...call.headers, "content-length": String(Buffer.byteLength(body)) } : call.headers;
  const options = { method, headers, signal, agent: isSecure ? agents.secure : agents.plain };
  const request = isSecure ? httpsRequest(url, options) : httpRequest(url, options);
  request.setTimeout(call.timeoutMs, () => request.destroy(new Error(`no answer within ${call.timeoutMs} ms`)));
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve);
    request.on("error", reject);
    request.once("close", () => reject(new Error("the connection was closed")));
  });
  try {
    if (body === undefined || typeof body === "string" || body instanceof Uint8Array) request.end(body);
    // An answer may come before the end of the body: then that is what counts.
    else pipeline(body, request).catch(() => undefined);
    const reply = await answered;
    return { status: reply.statusCode ?? 0, headers: reply.headers, body: reply };
  } catch (error) {
    throw failureOf(error, call);
  }
}

/** Reads a body, at most so many bytes. @throws {RunnerClientError} ANSWER_INVALID, SERVER_UNREACHABLE, CANCELLED */
export async function readReply(reply: HttpReply, maxBytes: number, call: HttpCall): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of reply.body) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size > maxBytes) break;
    }
  } catch (error) {
    throw failureOf(error, call);
  }
  if (size > maxBytes) {
    throw new RunnerClientError("ANSWER_INVALID", `${nameOf(call)}: the answer is larger than ${maxBytes} bytes`);
  }
  return Buffer.concat(chunks);
}

/** How messages name a call: without the query, which may hold a signature. */
export function nameOf({ method, url }: { readonly method: string; readonly url: string }): string {
  return `${method} ${url.replace(/[?#].*$/u, "")}`;
}

const UNTRUSTED = /^(ERR_TLS_|ERR_SSL_|ERR_INVALID_URL|ERR_OSSL_|DEPTH_|SELF_SIGNED|UNABLE_TO_|CERT_)/u;

function failureOf(error: unknown, call: HttpCall): RunnerClientError {
  if (call.signal?.aborted === true) return new RunnerClientError("CANCELLED", `${nameOf(call)} was given up`);
  const isConfig = UNTRUSTED.test((error as NodeJS.ErrnoException).code ?? "");
  const code = isConfig ? "CLIENT_CONFIG" : "SERVER_UNREACHABLE";
  // An error for several addresses has no message of its own.
  const cause = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  return new RunnerClientError(code, `${nameOf(call)} failed: ${messageOf(cause)}`, { cause: error });
}
