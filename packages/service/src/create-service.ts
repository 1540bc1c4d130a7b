import type { JobTable } from "./job-submission.ts";
import { lazyHandler } from "./request/lazy-handler.ts";
import type { RequestHandler } from "./request/request-handler.ts";
import type { OperatorLog } from "./operator-log.ts";

/** The parts that a service is made of. */
export interface ServiceOptions {
  readonly jobs: JobTable;
  /** The working directory of jobs that name none; absolute. Default: the process's working directory. */
  readonly workDir?: string;
  /** A job without a token is refused: for a machine that several users share. Default: no. */
  readonly requiresToken?: boolean;
  /** Default: nothing is told. */
  readonly log?: OperatorLog;
}

/** All that is served on one socket, apart from the socket. */
export interface Service {
  readonly jobs: JobTable;
  /** Answers a request of `node:http2` or `node:http`, in gRPC, gRPC-Web or Connect. Never throws. */
  readonly handle: RequestHandler;
  readonly log: OperatorLog;
  /** Makes the health service answer NOT_SERVING from now on. */
  announceStop(): void;
  /** Ends every call that still runs with UNAVAILABLE. */
  abortCalls(): void;
}

/**
 * The services `steps.v1.StepRunner` and `proto.StepRunner` (GitLab's) over one job table, with gRPC's health and
 * reflection services beside them. Listen with `listenUnix()` or `listenPort()`.
 */
export function createService(options: ServiceOptions): Service {
  const { jobs, workDir = process.cwd(), requiresToken = false, log = () => undefined } = options;
  const stopping = new AbortController();
  const shutdown = new AbortController();
  const answering = {
    context: { jobs, workDir, requiresToken },
    log,
    stopping: stopping.signal,
    shutdown: shutdown.signal,
  };
  return {
    jobs,
    log,
    // A service that nobody has called yet does not hold all of this in memory.
    handle: lazyHandler(async () => (await import("./wire/answer-requests.ts")).answerRequests(answering), log),
    announceStop: () => stopping.abort(),
    abortCalls: () => shutdown.abort(),
  };
}
