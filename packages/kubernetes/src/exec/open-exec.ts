import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import type { ClientOptions } from "ws";
import { printable } from "@steps/model/bounded-text";
import type { KubernetesAccess } from "../access/kubernetes-access.ts";
import { parseStatus } from "./exec-outcome.ts";
import { podUrl, type PodTarget } from "../pod/pod-target.ts";
import { type ExecStreamOptions, SocketExecStream } from "./exec-stream.ts";

const PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"];
const MAX_BODY_BYTES = 64 * 1024;
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const MAX_FRAGMENTS = 64 * 1024;
const TCP_KEEP_ALIVE_MS = 30_000;

export interface OpenExecOptions extends ExecStreamOptions {
  readonly argv: readonly string[];
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The answer of a server that did not open a connection. */
export interface HttpRefusal {
  readonly statusCode: number;
  /** Its own message, if it is a `metav1.Status`, or the beginning of the body. */
  readonly message: string;
}

/**
 * Starts a program in a container and gives its stream, or the server's refusal. Rejects with the error of the connection, or
 * with the signal's reason; nothing is left of it then.
 */
export async function openExec(
  access: KubernetesAccess,
  target: PodTarget,
  options: OpenExecOptions,
): Promise<SocketExecStream | HttpRefusal> {
  const { signal, timeoutMs } = options;
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<SocketExecStream | HttpRefusal>();
  const ws = new WebSocket(execUrl(access, target, options.argv), PROTOCOLS, clientOptions(access));
  // The stream exists before "open", because the first messages may arrive together with the answer.
  const stream = new SocketExecStream(ws, options);
  stream.on("error", () => undefined);
  const giveUp = (reason: unknown): void => {
    stream.destroy();
    reject(reason);
  };
  const timer = setTimeout(() => giveUp(new Error(`No answer within ${timeoutMs} ms`)), timeoutMs);
  const onAbort = (): void => giveUp(signal.reason);
  signal.addEventListener("abort", onAbort);
  ws.on("upgrade", (response) => response.socket.setKeepAlive(true, TCP_KEEP_ALIVE_MS));
  ws.on("open", () => resolve(stream));
  ws.on("error", reject);
  ws.on("unexpected-response", (_request, response) => {
    readRefusal(response).then(resolve, reject);
  });
  try {
    const opened = await promise;
    if (opened !== stream) stream.destroy();
    return opened;
  } catch (error) {
    stream.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function execUrl(access: KubernetesAccess, target: PodTarget, argv: readonly string[]): URL {
  const url = podUrl(access, target);
  url.pathname += "/exec";
  for (const argument of argv) url.searchParams.append("command", argument);
  if (target.container !== undefined) url.searchParams.set("container", target.container);
  for (const [key, value] of [
    ["stdin", "true"],
    ["stdout", "true"],
    ["stderr", "true"],
    ["tty", "false"],
  ] as const) {
    url.searchParams.set(key, value);
  }
  return url;
}

function clientOptions({ headers, tls }: KubernetesAccess): ClientOptions {
  return {
    ...tls,
    finishRequest: (request) => {
      for (const [name, value] of Object.entries(headers)) request.setHeader(name, value);
      request.end();
    },
    followRedirects: false,
    // The data is already compressed or encrypted, so compressing it would cost both ends more than it saves.
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    maxFragments: MAX_FRAGMENTS,
    skipUTF8Validation: true,
  };
}

async function readRefusal(response: IncomingMessage): Promise<HttpRefusal> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size > MAX_BODY_BYTES) break;
    }
  } catch {
    // The status line says enough.
  }
  const text = Buffer.concat(chunks).toString();
  const message = printable(parseStatus(text)?.message ?? text).slice(0, 1000);
  return {
    statusCode: response.statusCode ?? 0,
    message: message === "" ? `HTTP status ${response.statusCode}` : message,
  };
}
