import { checkOptionNames, type OptionNames } from "@steps/model";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Duplex } from "node:stream";
import { gitlab, StepRunner } from "@steps/proto/service";
import { ClientError } from "./client-error.ts";
import type { Dial } from "./dial.ts";
import { callUnary } from "./grpc-call.ts";
import { Http2Session } from "./http2-session.ts";
import { createServiceClient, type ServerIdentity, type ServiceClient } from "./service-client.ts";

const HANDSHAKE_TIMEOUT_MS = 5_000;
const DIAL_TIMEOUT_MS = 30_000;
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

const OPTION_NAMES: OptionNames<ConnectOptions> = { token: true, bearer: true, signal: true };

/**
 * Dials once and makes sure that a service answers.
 *
 * @throws whatever the dial throws; a `ClientError` REFUSED if a server answers that is another; a `ConnectError` with `Unavailable` if nothing that answers is there, or with the code
 * of the service if it does not want us
 */
export async function connectService(dial: Dial, options: ConnectOptions = {}): Promise<ServiceClient> {
  checkOptionNames("connectService()", options, OPTION_NAMES);
  const headers = headersOf(options);
  const session = new Http2Session(await dialInTime(dial, options.signal));
  try {
    const server = await shakeHands(session, headers, options.signal);
    session.keepAlive(server.instance === "" ? FOREIGN_PING_INTERVAL_MS : PING_INTERVAL_MS, PING_TIMEOUT_MS);
    return createServiceClient({ session, headers, server });
  } catch (error) {
    session[Symbol.dispose]();
    throw error;
  }
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

function headersOf({ token, bearer }: ConnectOptions): Record<string, string> {
  for (const given of [token, bearer])
    if (given !== undefined && !/^[\x21-\x7e]{1,256}$/.test(given))
      throw new ClientError("REQUEST_INVALID", "A token is 1 to 256 characters of ASCII without blanks");
  return {
    ...(token === undefined ? {} : { "step-runner-job-token": token }),
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
  };
}

// A stream that is open proves nothing: there may be nobody behind it, or somebody else.
async function shakeHands(
  session: Http2Session,
  headers: Record<string, string>,
  signal: AbortSignal | undefined,
): Promise<ServerIdentity> {
  try {
    // The call only asks who answers; it names no job, since the jobs of others are no concern of ours.
    const call = { method: StepRunner.method.list, input: { ids: ["-"] } };
    const answer = await callUnary(session, call, { headers, signal, timeoutMs: HANDSHAKE_TIMEOUT_MS });
    const { name = "", version = "" } = answer.runner ?? {};
    return { name: `${name} ${version}`.trim(), instance: answer.instance };
  } catch (cause) {
    if (signal?.aborted !== true && ConnectError.from(cause).code === Code.DeadlineExceeded) {
      const message = `No service answered within ${HANDSHAKE_TIMEOUT_MS / 1000} s`;
      throw new ConnectError(message, Code.Unavailable, undefined, undefined, cause);
    }
    if (signal?.aborted !== true && ConnectError.from(cause).code === Code.Unimplemented)
      throw await explainForeign(session, cause, { headers, signal });
    throw cause;
  }
}

/** Explains the failure of a server that answers but does not offer our service. */
async function explainForeign(
  session: Http2Session,
  cause: unknown,
  { headers, signal }: { readonly headers: Record<string, string>; readonly signal: AbortSignal | undefined },
): Promise<ClientError> {
  // No job has this id, and any answer but "there is no such method" shows who it is.
  const call = { method: gitlab.StepRunner.method.status, input: { id: "-" } };
  const isGitlab = await callUnary(session, call, { headers, signal, timeoutMs: HANDSHAKE_TIMEOUT_MS }).then(
    () => true,
    (error: unknown) => ![Code.Unimplemented, Code.Unavailable].includes(ConnectError.from(error).code),
  );
  return isGitlab
    ? new ClientError(
        "REFUSED",
        "This is GitLab's own step runner, which has no steps.v1.StepRunner for other callers",
        {
          cause,
          hint: "Start our 'step-runner serve' there, on a socket of its own; GitLab's is for GitLab's runner.",
        },
      )
    : new ClientError("REFUSED", "What answers is a gRPC server without steps.v1.StepRunner: no step runner", {
        cause,
        hint: "Name the socket of 'step-runner serve'.",
      });
}
