import { type ConnectRouter, ConnectError, Code, createConnectRouter, type Interceptor } from "@connectrpc/connect";
import { gitlab, health, reflection, reflectionAlpha, StepRunner } from "@steps/proto/service";
import type { JobTable } from "./job-spec.ts";
import { createRequestHandler, type RequestHandler, type Shortcut } from "./listen/request-handler.ts";
import type { OperatorLog } from "./operator-log.ts";
import { serveByteCall } from "./wire/byte-stream.ts";
import { type DescriptorFiles, indexDescriptorFiles } from "./wire/descriptor-files.ts";
import { gitlabService } from "./wire/gitlab-service.ts";
import { guardCalls } from "./wire/guard-calls.ts";
import { followIOCall, followLogsCall } from "./wire/log-calls.ts";
import { healthService } from "./wire/health-service.ts";
import { reflectionService } from "./wire/reflection-service.ts";
import type { CallContext } from "./wire/start-job.ts";
import { stepRunnerService } from "./wire/step-runner-service.ts";
import { validateRequests } from "./wire/validate-requests.ts";

/** What a service is made of. */
export interface ServiceOptions {
  readonly jobs: JobTable;
  /** Where a job runs that does not say where; absolute. Default: the process's working directory. */
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
  /** From now on health says NOT_SERVING. */
  announceStop(): void;
  /** Ends every call that still runs with UNAVAILABLE. */
  abortCalls(): void;
}

/** A request that is larger is refused; configurations of whole jobs are some hundred KiB. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024;

const SERVICES = [StepRunner, gitlab.StepRunner, health.Health, reflection.ServerReflection, reflectionAlpha.ServerReflection]; // oxfmt-ignore

/**
 * The services `steps.v1.StepRunner` and `proto.StepRunner` (GitLab's) over one job table, with gRPC's health and
 * reflection services beside them. Listen with `listenUnix()` or `listenPort()`.
 */
export function createService(options: ServiceOptions): Service {
  const { jobs, workDir = process.cwd(), requiresToken = false, log = () => undefined } = options;
  const stopping = new AbortController();
  const shutdown = new AbortController();
  const guard = guardCalls(log);
  const router = createConnectRouter({
    // Compressing costs five times the work of sending, and nobody is far away.
    acceptCompression: [],
    readMaxBytes: MAX_REQUEST_BYTES,
    interceptors: [guard],
    shutdownSignal: shutdown.signal,
  });
  addServices(router, { context: { jobs, workDir, requiresToken }, guard, stopping: stopping.signal });
  return {
    jobs,
    log,
    handle: createRequestHandler(
      router.handlers,
      log,
      logCalls({ jobs, workDir, requiresToken }, log, shutdown.signal),
    ),
    announceStop: () => stopping.abort(),
    abortCalls: () => shutdown.abort(new ConnectError("The service stops", Code.Unavailable)),
  };
}

function logCalls(context: CallContext, log: OperatorLog, stopped: AbortSignal): ReadonlyMap<string, Shortcut> {
  const [followIO, followLogs] = [followIOCall(context), followLogsCall(context)];
  return new Map<string, Shortcut>([
    [`/${followIO.name}`, serveByteCall(followIO, { log, stopped })],
    [`/${followLogs.name}`, serveByteCall(followLogs, { log, stopped })],
  ]);
}

interface Parts {
  readonly context: Parameters<typeof stepRunnerService>[0];
  readonly guard: Interceptor;
  readonly stopping: AbortSignal;
}

function addServices(router: ConnectRouter, { context, guard, stopping }: Parts): void {
  let files: DescriptorFiles | undefined;
  const reflect = reflectionService(() => (files ??= indexDescriptorFiles(SERVICES)));
  const names = new Set(SERVICES.map(({ typeName }) => typeName));
  // Rules are for our requests; GitLab's hold whatever a process has in its environment.
  router.service(StepRunner, stepRunnerService(context), { interceptors: [guard, validateRequests()] });
  router.service(gitlab.StepRunner, gitlabService(context));
  router.service(health.Health, healthService(names, stopping));
  router.service(reflection.ServerReflection, reflect);
  router.service(reflectionAlpha.ServerReflection, reflect);
}
