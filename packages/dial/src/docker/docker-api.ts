import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";
import { printable } from "@steps/model/bounded-text";
import { codeOf } from "../connect-error.ts";
import { DialError } from "../dial-error.ts";
import type { DockerHost } from "./docker-host.ts";

/** A request to the daemon: unversioned paths mean its newest API, and what is used here is in all of them. */
export interface DockerRequest {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: unknown;
  /** True to take over the connection itself. */
  readonly upgrade?: boolean;
}

/** An answer: JSON text, or a raw connection with the first bytes that came on it. */
export type DockerAnswer =
  | { readonly status: number; readonly text: string }
  | { readonly status: 101; readonly socket: Socket; readonly head: Buffer };

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * Asks a daemon on a connection of its own. Rejects when it cannot be reached, does not answer in time (10 s), or the signal is
 * aborted; any status is an answer.
 */
export async function askDocker(
  host: DockerHost,
  request: DockerRequest,
  { signal, timeoutMs = DEFAULT_TIMEOUT_MS }: { signal: AbortSignal; timeoutMs?: number | undefined },
): Promise<DockerAnswer> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<DockerAnswer>();
  const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
  const sent = (host.isTls ? https : http).request({
    ...host.connection,
    agent: false,
    method: request.method,
    path: host.prefix + request.path,
    headers: headersOf(request, body),
  });
  const onAbort = (): void => reject(signal.reason);
  const timer = setTimeout(() => reject(silent(host, timeoutMs)), timeoutMs);
  signal.addEventListener("abort", onAbort);
  sent.on("error", (error) => reject(connectError(host, error)));
  sent.on("response", (response) => {
    const status = response.statusCode ?? 0;
    // A success that is no upgrade may be a stream without an end: its body is of no use.
    if (request.upgrade === true && status < 300) resolve({ status, text: "" });
    else void readText(response).then((text) => resolve({ status, text }), reject);
  });
  sent.on("upgrade", (_response, socket, head) => resolve({ status: 101, socket: socket as Socket, head }));
  sent.end(body);
  try {
    const answer = await promise;
    if (!("socket" in answer)) sent.destroy();
    return answer;
  } catch (error) {
    sent.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function headersOf(request: DockerRequest, body: Buffer | undefined): http.OutgoingHttpHeaders {
  return {
    ...(body !== undefined && { "content-type": "application/json", "content-length": body.length }),
    ...(request.upgrade === true ? { connection: "Upgrade", upgrade: "tcp" } : { connection: "close" }),
  };
}

async function readText(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) throw new DialError("PROTOCOL", "The Docker daemon's answer is too long");
  }
  return Buffer.concat(chunks).toString();
}

/**
 * Returns the text of an answer: the `message` of an error, or the whole text when something other than a daemon
 * answered.
 */
export function messageOfAnswer(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text);
    const isObject = typeof parsed === "object" && parsed !== null && "message" in parsed;
    if (isObject && typeof parsed.message === "string") return printable(parsed.message.slice(0, 2000));
  } catch {
    // Not JSON: shown as it is.
  }
  return printable(text.slice(0, 500));
}

function silent(host: DockerHost, timeoutMs: number): DialError {
  return new DialError("UNREACHABLE", `The Docker daemon at ${host.name} did not answer within ${timeoutMs / 1000} s`);
}

function connectError(host: DockerHost, cause: Error): DialError {
  const code = codeOf(cause) ?? "";
  const problem = `The Docker daemon at ${host.name}`;
  if (code === "EACCES" || code === "EPERM") {
    const hint = "Join the group that owns the socket (often 'docker'), or run as root";
    return new DialError("DENIED", `${problem} may not be used by this user`, { cause, hint });
  }
  if (code === "EPROTO" || code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_PACKET_LENGTH_TOO_LONG") {
    const hint = "Leave the TLS options out, or use http://";
    return new DialError("ADDRESS_INVALID", `${problem} does not speak TLS`, { cause, hint });
  }
  if (/^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|ERR_TLS_|ERR_SSL_|ERR_OSSL_)/.test(code)) {
    const hint = "Check ca.pem, cert.pem and key.pem, and the name in the daemon's certificate";
    return new DialError("DENIED", `${problem} and this side do not trust each other: ${cause.message}`, {
      cause,
      hint,
    });
  }
  if (code.startsWith("HPE_"))
    return new DialError("PROTOCOL", `${problem} speaks something else than HTTP`, { cause });
  const hint = code === "ENOENT" || code === "ECONNREFUSED" ? "Is dockerd running there?" : undefined;
  return new DialError("UNREACHABLE", `${problem} cannot be reached: ${cause.message}`, { cause, hint });
}
