import { type Client, Code, ConnectError, createClient } from "@connectrpc/connect";
import { createTransport } from "@connectrpc/connect/protocol-grpc";
import type { Duplex } from "node:stream";
import { StepRunner } from "@steps/proto/service";
import type { Dial } from "./dial.ts";
import { createHttp2Client } from "./http2-client.ts";
import { Http2Session } from "./http2-session.ts";
import { createServiceClient, type ServerIdentity, type ServiceClient } from "./service-client.ts";

const HANDSHAKE_TIMEOUT_MS = 5_000;
const DIAL_TIMEOUT_MS = 30_000;
/** Of one message: a result tree is the largest. */
const MAX_MESSAGE_BYTES = 64 << 20;
const PING_INTERVAL_MS = 20_000;
const PING_TIMEOUT_MS = 10_000;
/** gRPC's servers end a connection that asks more often than this. */
const FOREIGN_PING_INTERVAL_MS = 300_000;

/** How a service is connected to. */
export interface ConnectOptions {
  /** The token of a job, for calls that name it: at most 256 characters of ASCII. */
  readonly token?: string | undefined;
  /** The token of a service that listens on a port. */
  readonly bearer?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Dials once and makes sure that a service answers.
 *
 * @throws whatever the dial throws; a `ConnectError` with `Unavailable` if nothing that answers is there, or with the code
 * of the service if it does not want us
 */
export async function connectService(dial: Dial, options: ConnectOptions = {}): Promise<ServiceClient> {
  const session = new Http2Session(await dialInTime(dial, options.signal));
  try {
    const client = createClient(StepRunner, createGrpcTransport(session));
    const headers = headersOf(options);
    const server = await shakeHands(client, headers, options.signal);
    session.keepAlive(server.instance === "" ? FOREIGN_PING_INTERVAL_MS : PING_INTERVAL_MS, PING_TIMEOUT_MS);
    const giveUp = (reason: string): void => session.lose(reason);
    return createServiceClient({ client, headers, server, lost: session.lost, giveUp });
  } catch (error) {
    session[Symbol.dispose]();
    throw error;
  }
}

function createGrpcTransport(session: Http2Session): ReturnType<typeof createTransport> {
  return createTransport({
    httpClient: createHttp2Client(session),
    baseUrl: "http://localhost",
    useBinaryFormat: true,
    interceptors: [],
    acceptCompression: [],
    sendCompression: null,
    compressMinBytes: Number.MAX_SAFE_INTEGER,
    readMaxBytes: MAX_MESSAGE_BYTES,
    writeMaxBytes: MAX_MESSAGE_BYTES,
  });
}

/** A dial that does not heed its signal is left to itself, and what comes of it is thrown away. */
async function dialInTime(dial: Dial, signal: AbortSignal | undefined): Promise<Duplex> {
  signal?.throwIfAborted();
  const stop = new AbortController();
  const onAbort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(
    () => stop.abort(new ConnectError(`No connection within ${DIAL_TIMEOUT_MS / 1000} s`, Code.Unavailable)),
    DIAL_TIMEOUT_MS,
  );
  try {
    return await new Promise((resolve, reject) => {
      stop.signal.addEventListener("abort", () => reject(stop.signal.reason), { once: true });
      dial(stop.signal).then((duplex) => {
        if (!stop.signal.aborted) return resolve(duplex);
        duplex.on("error", () => undefined);
        duplex.destroy();
      }, reject);
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

function headersOf(options: ConnectOptions): Record<string, string> {
  return {
    ...(options.token === undefined ? {} : { "step-runner-job-token": options.token }),
    ...(options.bearer === undefined ? {} : { authorization: `Bearer ${options.bearer}` }),
  };
}

// A stream that is open proves nothing: there may be nobody behind it, or somebody else.
async function shakeHands(
  client: Client<typeof StepRunner>,
  headers: Record<string, string>,
  signal: AbortSignal | undefined,
): Promise<ServerIdentity> {
  try {
    const answer = await client.list(
      // Who answers is all that is asked; the jobs of others are not.
      { ids: ["-"] },
      { headers, timeoutMs: HANDSHAKE_TIMEOUT_MS, ...(signal === undefined ? {} : { signal }) },
    );
    const { name = "", version = "" } = answer.runner ?? {};
    return { name: `${name} ${version}`.trim(), instance: answer.instance };
  } catch (cause) {
    if (signal?.aborted !== true && ConnectError.from(cause).code === Code.DeadlineExceeded) {
      const message = `No service answered within ${HANDSHAKE_TIMEOUT_MS / 1000} s`;
      throw new ConnectError(message, Code.Unavailable, undefined, undefined, cause);
    }
    throw cause;
  }
}
