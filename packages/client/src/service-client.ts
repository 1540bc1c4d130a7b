import { type FollowResponse, type Job, type RunRequest, StepRunner } from "@steps/proto/service";
import { callSplit, callStream, callUnary, type GrpcOptions, MAX_MESSAGE_BYTES } from "./grpc-call.ts";
import type { Http2Session } from "./http2-session.ts";
import { OutputSplitter } from "./output-splitter.ts";

const CALL_TIMEOUT_MS = 30_000;
const CANCEL_TIMEOUT_MS = 5_000;

/** How many bytes of each stream of a job's output the caller has. */
export interface Offsets {
  readonly stdout: number;
  readonly stderr: number;
}

/** A piece of a job's output; `offset` is that of its first byte in its stream, as the service has it. */
export interface OutputPiece {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Uint8Array;
  readonly offset: number;
}

/** The identity of the server. Both fields are empty for a service that does not tell them. */
export interface ServerIdentity {
  /** Name and version: `step-runner 0.1.0`. */
  readonly name: string;
  /** An id that is chosen anew at each start of the service. */
  readonly instance: string;
}

/**
 * The options of one call: a signal that ends it, and its deadline in milliseconds. A call without `timeoutMs` has no
 * deadline.
 */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

/**
 * The service at the other end of one connection. Calls reject with a `ConnectError`: with the service's own code, with
 * `Canceled` when the caller's signal was aborted, and with `Unavailable` when the connection or the call was lost,
 * whatever lost it. Streams end with their call when their reader leaves.
 */
export interface ServiceClient extends Disposable {
  readonly server: ServerIdentity;
  /** Aborted, with the reason, when the connection is gone. It does not come back. */
  readonly lost: AbortSignal;
  run(request: RunRequest, options?: CallOptions): Promise<void>;
  follow(id: string, options?: CallOptions): AsyncIterable<FollowResponse>;
  /** Output from the offsets on, in order of arrival. What is not read holds back the service. */
  followIO(id: string, offsets: Offsets, options?: CallOptions): AsyncIterable<OutputPiece>;
  cancel(id: string, options?: CallOptions): Promise<void>;
  /** The jobs with these ids; all of them unless given. */
  list(ids?: readonly string[], options?: CallOptions): Promise<readonly Job[]>;
  close(id: string, options?: CallOptions): Promise<void>;
  /** The trace of a job that ended, as JSON in UTF-8. */
  getTrace(id: string, options?: CallOptions): AsyncIterable<Uint8Array>;
  /** Gives the connection up, for a reason that others on it are told. */
  abandon(reason: string): void;
  [Symbol.dispose](): void;
}

/** The session and the headers that all calls of one connection share. */
export interface Wire {
  readonly session: Http2Session;
  readonly headers: Readonly<Record<string, string>>;
  readonly server: ServerIdentity;
}

/** The calls of one connection. */
export function createServiceClient({ session, headers, server }: Wire): ServiceClient {
  const { method } = StepRunner;
  const using = (options: CallOptions = {}, timeoutMs?: number): GrpcOptions => ({
    headers,
    signal: options.signal,
    timeoutMs: options.timeoutMs ?? timeoutMs,
  });
  return {
    server,
    lost: session.lost,
    async run(input, options) {
      await callUnary(session, { method: method.run, input }, using(options, CALL_TIMEOUT_MS));
    },
    follow: (id, options) => callStream(session, { method: method.follow, input: { id } }, using(options)),
    followIO: (id, offsets, options) => readOutput(session, { id, offsets }, using(options)),
    async cancel(id, options) {
      await callUnary(session, { method: method.cancel, input: { id } }, using(options, CANCEL_TIMEOUT_MS));
    },
    async list(ids = [], options) {
      const call = { method: method.list, input: { ids: [...ids] } };
      return (await callUnary(session, call, using(options, CALL_TIMEOUT_MS))).jobs;
    },
    async close(id, options) {
      await callUnary(session, { method: method.close, input: { id } }, using(options, CALL_TIMEOUT_MS));
    },
    getTrace: (id, options) => readTrace(session, id, using(options)),
    abandon: (reason) => session.lose(reason),
    [Symbol.dispose]: () => session[Symbol.dispose](),
  };
}

function readOutput(
  session: Http2Session,
  { id, offsets }: { readonly id: string; readonly offsets: Offsets },
  options: GrpcOptions,
): AsyncIterable<OutputPiece> {
  const input = { id, stdoutOffset: BigInt(offsets.stdout), stderrOffset: BigInt(offsets.stderr) };
  const splitter = new OutputSplitter(MAX_MESSAGE_BYTES);
  return callSplit(session, { method: StepRunner.method.followIO, input, splitter }, options);
}

async function* readTrace(
  session: Http2Session,
  id: string,
  options: GrpcOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const call = { method: StepRunner.method.getTrace, input: { id } };
  for await (const { data } of callStream(session, call, options)) yield data;
}
