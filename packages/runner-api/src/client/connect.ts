import { checkOptionNames, type OptionNames } from "@steps/model";
import type { JobPayload } from "../job/index.ts";
import { PAYLOAD } from "../job/index.ts";
import {
  JOB_REQUEST,
  JOB_UPDATE,
  type JobRequest,
  type JobUpdate,
  MANAGER_REQUEST,
  REGISTER_REQUEST,
  REGISTERED_RUNNER,
  type RegisteredRunner,
  type RegisterRequest,
  RESET_TOKEN,
  type ResetToken,
  TOKEN_REQUEST,
  VERIFY_REQUEST,
  type VerifyRequest,
} from "../messages/index.ts";
import { HEADERS, PATHS, readSeconds } from "../names.ts";
import { formatContentRange, parseStoredRange } from "../trace.ts";
import { type ArtifactCalls, artifactCalls } from "./artifacts.ts";
import { type Answer, type Caller, createCaller, readAnswer, type RunnerApiOptions } from "./call.ts";

/** The calls of a runner. Each rejects with a RunnerClientError only when there is no answer of the API. */
export interface RunnerApi extends ArtifactCalls {
  /** Registers with a registration token: 201 and the runner, or an error's status. */
  register(request: RegisterRequest): Promise<Answer & { readonly runner: RegisteredRunner | undefined }>;
  /** Asks whether a token is valid: 200 and the runner, 403 if it is not. */
  verify(request: VerifyRequest): Promise<Answer & { readonly runner: RegisteredRunner | undefined }>;
  /** Deletes the runner with all its managers: 204. */
  unregister(token: string): Promise<Answer>;
  /** Deletes one manager of a runner: 204. */
  unregisterManager(token: string, systemId: string): Promise<Answer>;
  /** Changes the token of the runner: 201 and the new one. */
  resetToken(token: string): Promise<Answer & { readonly reset: ResetToken | undefined }>;
  /** Asks for a job: 201 and its payload, 204 for none. The server may hold the request for a minute. */
  requestJob(request: JobRequest & { readonly token: string }, options?: CallOptions): Promise<JobAnswer>;
  /** Tells how a job is doing: 200; 202 to ask again; 412 to send the trace again; 403 to stop. */
  updateJob(id: number, update: JobUpdate & { readonly token: string }, options?: CallOptions): Promise<JobStateAnswer>;
  /** Appends to the trace of a job: 202; 416 to go on at `stored`; 403 to stop. */
  patchTrace(
    id: number,
    patch: TracePatch,
    options?: CallOptions,
  ): Promise<JobStateAnswer & { readonly stored: number | undefined }>;
  /** Ends the connections that are kept. */
  close(): void;
}

/** How long a call may take. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds without a byte. Default: 60 s, and 5 min for requests of jobs. */
  readonly timeoutMs?: number | undefined;
}

/** The answer to a request for a job. */
export interface JobAnswer extends Answer {
  /** With status 201. */
  readonly payload: JobPayload | undefined;
  /** The ticket to send with the next request, if the answer has one. */
  readonly lastUpdate: string | undefined;
}

/** The answer to a call about a job. */
export interface JobStateAnswer extends Answer {
  /** `Job-Status`: the state in which the server sees the job. */
  readonly jobStatus: string | undefined;
  /** Seconds between two patches, as the server wants it. */
  readonly intervalSeconds: number | undefined;
}

/** A part of a trace. */
export interface TracePatch {
  readonly token: string;
  /** The offset of the first byte in the whole trace. */
  readonly offset: number;
  /** At least one. */
  readonly bytes: Uint8Array;
  /** The job logs more than usual, so the server may show the trace to fewer people. */
  readonly isDebug?: boolean | undefined;
}

const POLL_TIMEOUT_MS = 300_000;

const OPTION_NAMES: OptionNames<RunnerApiOptions> = { url: true, userAgent: true, tls: true, retries: true };

/** Gives the calls of a runner to one server. @throws {RunnerClientError} CLIENT_CONFIG */
export function connectRunnerApi(options: RunnerApiOptions): RunnerApi {
  checkOptionNames("connectRunnerApi()", options, OPTION_NAMES);
  const caller = createCaller(options);
  return {
    ...registrationCalls(caller),
    ...jobCalls(caller),
    ...artifactCalls(caller),
    close: () => caller.sender.close(),
  };
}

type RegistrationCalls = Pick<RunnerApi, "register" | "verify" | "unregister" | "unregisterManager" | "resetToken">;

function registrationCalls(caller: Caller): RegistrationCalls {
  const asRunner = (token: string): Record<string, string> => ({ [HEADERS.runnerToken]: token });
  const registered = async (path: string, token: string, body: string, success: number) => {
    const answer = await caller.call({ method: "POST", path, headers: asRunner(token), body, expects: [success] });
    const runner = answer.status === success ? readAnswer(REGISTERED_RUNNER, answer.body, path) : undefined;
    return { ...answer, runner };
  };
  return {
    register: (request) => registered(PATHS.runners, request.token, REGISTER_REQUEST.write(request), 201),
    verify: (request) => registered(PATHS.verify, request.token, VERIFY_REQUEST.write(request), 200),
    unregister: (token) =>
      caller.call({
        method: "DELETE",
        path: PATHS.runners,
        headers: asRunner(token),
        body: TOKEN_REQUEST.write({ token }),
      }),
    unregisterManager: (token, systemId) =>
      caller.call({
        method: "DELETE",
        path: PATHS.managers,
        headers: asRunner(token),
        body: MANAGER_REQUEST.write({ token, system_id: systemId }),
      }),
    async resetToken(token) {
      const body = TOKEN_REQUEST.write({ token });
      const answer = await caller.call({
        method: "POST",
        path: PATHS.resetToken,
        headers: asRunner(token),
        body,
        expects: [201],
      });
      const reset = answer.status === 201 ? readAnswer(RESET_TOKEN, answer.body, PATHS.resetToken) : undefined;
      return { ...answer, reset };
    },
  };
}

function jobCalls(caller: Caller): Pick<RunnerApi, "requestJob" | "updateJob" | "patchTrace"> {
  return {
    async requestJob(request, options = {}) {
      const answer = await caller.call({
        method: "POST",
        path: PATHS.request,
        headers: { [HEADERS.runnerToken]: request.token },
        body: JOB_REQUEST.write(request),
        expects: [201],
        signal: options.signal,
        timeoutMs: options.timeoutMs ?? POLL_TIMEOUT_MS,
      });
      const payload = answer.status === 201 ? readAnswer(PAYLOAD, answer.body, PATHS.request) : undefined;
      return { ...answer, payload, lastUpdate: headerOf(answer, HEADERS.lastUpdate) };
    },
    async updateJob(id, update, options = {}) {
      const headers = { [HEADERS.jobToken]: update.token };
      const body = JOB_UPDATE.write(update);
      return stateOf(await caller.call({ method: "PUT", path: PATHS.job(id), headers, body, ...options }));
    },
    async patchTrace(id, patch, options = {}) {
      const range = formatContentRange(patch.offset, patch.bytes.length);
      const answer = await caller.call({
        method: "PATCH",
        path: `${PATHS.trace(id)}?debug_trace=${patch.isDebug === true}`,
        headers: {
          [HEADERS.jobToken]: patch.token,
          "content-range": range,
          "content-length": String(patch.bytes.length),
        },
        body: patch.bytes,
        contentType: "text/plain",
        ...options,
      });
      return { ...stateOf(answer), stored: parseStoredRange(headerOf(answer, "range")) };
    },
  };
}

function stateOf(answer: Answer): JobStateAnswer {
  const interval = readSeconds(headerOf(answer, HEADERS.traceInterval));
  return { ...answer, jobStatus: headerOf(answer, HEADERS.jobStatus), intervalSeconds: interval };
}

function headerOf({ headers }: Answer, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}
