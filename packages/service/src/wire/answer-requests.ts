import { Code, ConnectError, type ConnectRouter, createConnectRouter, type Interceptor } from "@connectrpc/connect";
import { gitlab, health, reflection, reflectionAlpha, StepRunner } from "@steps/proto/service";
import { BodyBudget } from "../request/body-budget.ts";
import { createRequestHandler, type RequestHandler, type Shortcut } from "../request/request-handler.ts";
import type { Log } from "@steps/model/operation";
import { serveByteCall } from "./byte-stream.ts";
import { type DescriptorFiles, indexDescriptorFiles } from "./descriptor-files.ts";
import { gitlabService } from "./gitlab-service.ts";
import { guardCalls } from "./guard-calls.ts";
import { healthService } from "./health-service.ts";
import { followIOCall, followLogsCall } from "./log-calls.ts";
import { reflectionService } from "./reflection-service.ts";
import type { CallContext } from "./start-job.ts";
import { stepRunnerService } from "./step-runner-service.ts";
import { validateRequests } from "./validate-requests.ts";

/** The state from which all calls of a service are answered. */
export interface Answering {
  readonly context: CallContext;
  readonly log: Log;
  /** Aborted when the service begins to stop: health says so. */
  readonly stopping: AbortSignal;
  /** Aborted when calls have to end. */
  readonly shutdown: AbortSignal;
}

/** A job that is larger is refused; configurations of whole jobs are some hundred KiB. */
const MAX_JOB_BYTES = 64 * 1024 * 1024;
/** All other requests: the longest list of ids of jobs. */
const MAX_REQUEST_BYTES = 1024 * 1024;

const RUN_PATHS: ReadonlySet<string> = new Set([`/${StepRunner.typeName}/Run`, `/${gitlab.StepRunner.typeName}/Run`]);

const SERVICES = [StepRunner, gitlab.StepRunner, health.Health, reflection.ServerReflection, reflectionAlpha.ServerReflection]; // oxfmt-ignore

/** Answers the requests of all services. */
export function answerRequests(answering: Answering): RequestHandler {
  const { log } = answering;
  const guard = guardCalls(log);
  const shutdown = withReason(answering.shutdown);
  const router = createConnectRouter({
    // Compressing costs five times the work of sending, and nobody is far away.
    acceptCompression: [],
    readMaxBytes: MAX_JOB_BYTES,
    interceptors: [guard],
    shutdownSignal: shutdown,
  });
  addServices(router, guard, answering);
  const budget = new BodyBudget();
  return createRequestHandler(router.handlers, {
    log,
    budget,
    maxBytesOf: (path) => (RUN_PATHS.has(path) ? MAX_JOB_BYTES : MAX_REQUEST_BYTES),
    shortcuts: logCalls({ ...answering, shutdown }, budget),
  });
}

function withReason(shutdown: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => controller.abort(new ConnectError("The service stops", Code.Unavailable));
  if (shutdown.aborted) abort();
  else shutdown.addEventListener("abort", abort, { once: true });
  return controller.signal;
}

function logCalls({ context, log, shutdown: stopped }: Answering, budget: BodyBudget): ReadonlyMap<string, Shortcut> {
  const [followIO, followLogs] = [followIOCall(context), followLogsCall(context)];
  return new Map<string, Shortcut>([
    [`/${followIO.name}`, serveByteCall(followIO, { log, stopped, budget })],
    [`/${followLogs.name}`, serveByteCall(followLogs, { log, stopped, budget })],
  ]);
}

function addServices(router: ConnectRouter, guard: Interceptor, { context, stopping }: Answering): void {
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
