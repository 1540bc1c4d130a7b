import type { Client } from "@connectrpc/connect";
import {
  FollowIOResponse_StreamType,
  type FollowResponse,
  type Job,
  type RunRequest,
  type StepRunner,
} from "@steps/proto/service";

const CALL_TIMEOUT_MS = 30_000;
const CANCEL_TIMEOUT_MS = 5_000;

/** Where the bytes of a job's output are: how many of each stream the caller has. */
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

/** Who answered. Both are empty for a service that does not say. */
export interface ServerIdentity {
  /** Name and version: `step-runner 0.1.0`. */
  readonly name: string;
  /** Chosen anew at each start of the service. */
  readonly instance: string;
}

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

/** What the calls of one connection are made with. */
export interface Wire {
  readonly lost: AbortSignal;
  readonly giveUp: (reason: string) => void;
  readonly client: Client<typeof StepRunner>;
  readonly headers: Record<string, string>;
  readonly server: ServerIdentity;
}

/** The calls of one connection. */
export function createServiceClient({ client, headers, server, lost, giveUp }: Wire): ServiceClient {
  const using = (options: CallOptions | undefined, timeoutMs?: number): WireOptions => {
    const limit = options?.timeoutMs ?? timeoutMs;
    return {
      headers,
      ...(options?.signal === undefined ? {} : { signal: options.signal }),
      ...(limit === undefined ? {} : { timeoutMs: limit }),
    };
  };
  return {
    server,
    lost,
    run: async (request, options) => void (await client.run(request, using(options, CALL_TIMEOUT_MS))),
    follow: (id, options) => whileRead(options, (own) => client.follow({ id }, using(own))),
    followIO: (id, offsets, options) => whileRead(options, (own) => readOutput(client, { id, offsets }, using(own))),
    cancel: async (id, options) => void (await client.cancel({ id }, using(options, CANCEL_TIMEOUT_MS))),
    list: async (ids, options) => (await client.list({ ids: [...(ids ?? [])] }, using(options, CALL_TIMEOUT_MS))).jobs,
    close: async (id, options) => void (await client.close({ id }, using(options, CALL_TIMEOUT_MS))),
    getTrace: (id, options) => whileRead(options, (own) => readTrace(client, id, using(own))),
    abandon: giveUp,
    [Symbol.dispose]: () => giveUp("The connection was closed"),
  };
}

/** Ends the call when its reader leaves: a client's iterable alone does not say so to the service. */
async function* whileRead<T>(
  options: CallOptions | undefined,
  call: (options: CallOptions) => AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  const stop = new AbortController();
  const signal = options?.signal;
  const onAbort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted === true) onAbort();
  try {
    for await (const message of call({ ...options, signal: stop.signal })) yield message;
  } finally {
    signal?.removeEventListener("abort", onAbort);
    stop.abort();
  }
}

type WireOptions = Parameters<Client<typeof StepRunner>["list"]>[1];

async function* readOutput(
  client: Client<typeof StepRunner>,
  { id, offsets }: { readonly id: string; readonly offsets: Offsets },
  options: WireOptions,
): AsyncGenerator<OutputPiece, void, undefined> {
  const request = { id, stdoutOffset: BigInt(offsets.stdout), stderrOffset: BigInt(offsets.stderr) };
  for await (const { stream, streamType, offset } of client.followIO(request, options)) {
    const isStderr = streamType === FollowIOResponse_StreamType.stderr;
    yield { stream: isStderr ? "stderr" : "stdout", bytes: stream, offset: Number(offset) };
  }
}

async function* readTrace(
  client: Client<typeof StepRunner>,
  id: string,
  options: WireOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const { data } of client.getTrace({ id }, options)) yield data;
}
