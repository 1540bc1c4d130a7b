import { checkOptionNames, type OptionNames } from "@steps/model";
import type { JobTable } from "./job-submission.ts";
import { lazyHandler } from "./request/lazy-handler.ts";
import { answerOpenRequest, isOpenRequest } from "./request/open-requests.ts";
import type { RequestHandler } from "./request/request-handler.ts";
import type { Log } from "@steps/model/operation";

/** The parts that a service is made of. */
export interface ServiceOptions {
  readonly jobs: JobTable;
  /** The working directory of jobs that name none; absolute. Default: the process's working directory. */
  readonly workDir?: string;
  /** A job without a token is refused: for a machine that several users share. Default: no. */
  readonly requiresToken?: boolean;
  /** Default: nothing is told. */
  readonly log?: Log;
}

/** All that is served on one socket, apart from the socket. */
export interface Service {
  readonly jobs: JobTable;
  /** Answers a request of `node:http2` or `node:http`: in gRPC, gRPC-Web or Connect, or for health and figures. Never throws. */
  readonly handle: RequestHandler;
  readonly log: Log;
  /** Takes no new jobs from now on: health answers NOT_SERVING, and `/readyz` 503. */
  drain(): void;
  /** Ends every call that still runs with UNAVAILABLE. */
  abortCalls(): void;
}

const OPTION_NAMES: OptionNames<ServiceOptions> = { jobs: true, workDir: true, requiresToken: true, log: true };

/**
 * The services `steps.v1.StepRunner` and `proto.StepRunner` (GitLab's) over one job table, with gRPC's health and
 * reflection services beside them. Listen with `listenUnix()` or `listenPort()`.
 */
export function createService(options: ServiceOptions): Service {
  checkOptionNames("createService()", options, OPTION_NAMES);
  const { jobs, workDir = process.cwd(), requiresToken = false, log = () => undefined } = options;
  const stopping = new AbortController();
  const shutdown = new AbortController();
  const answering = {
    context: { jobs, workDir, requiresToken },
    log,
    stopping: stopping.signal,
    shutdown: shutdown.signal,
  };
  // A service that nobody has called yet does not hold all of this in memory.
  const answerCall = lazyHandler(
    async () => (await import("./wire/answer-requests.ts")).answerRequests(answering),
    log,
  );
  return {
    jobs,
    log,
    handle: (request, reply) =>
      isOpenRequest(request) ? answerOpenRequest(jobs, request, reply) : answerCall(request, reply),
    drain: () => {
      jobs.drain();
      stopping.abort();
    },
    abortCalls: () => shutdown.abort(),
  };
}
