import { checkOptionNames, type OptionNames } from "@steps/model";
import { toBinary } from "@bufbuild/protobuf";
import { type RunRequest, RunRequestSchema } from "@steps/proto/service";
import { ClientError } from "./client-error.ts";
import type { Dial } from "./dial.ts";
import type { FollowOptions, JobOutcome } from "./follow-options.ts";
import { followToEnd } from "./follow-to-end.ts";
import { MAX_MESSAGE_BYTES } from "./grpc-call.ts";
import { createJobToken, type JobRequest, toRunRequest } from "./job-request.ts";
import { sendJob } from "./send-job.ts";
import { type JobState, withLink } from "./with-link.ts";

const OPTION_NAMES: OptionNames<FollowOptions> = {
  token: true,
  bearer: true,
  signal: true,
  hurry: true,
  detach: true,
  onOutput: true,
  onOffsets: true,
  resume: true,
  onResult: true,
  onState: true,
  wantsResult: true,
  wantsTrace: true,
  keep: true,
  reconnectWindowMs: true,
  connectWindowMs: true,
};

const REQUEST_NAMES: OptionNames<JobRequest> = {
  id: true,
  nonce: true,
  definition: true,
  source: true,
  steps: true,
  ciScript: true,
  name: true,
  workDir: true,
  env: true,
  variables: true,
  inputs: true,
  grants: true,
  maskedValues: true,
  tokenMaskPrefixes: true,
  notes: true,
  sections: true,
  timeoutMs: true,
  graceMs: true,
};

/**
 * Runs a job on a service and follows it to its end, over as many connections as it takes. The job is started once: a
 * request that may have arrived is sent again with the same id and nonce, by which the service knows it. Each byte of output
 * is given once.
 *
 * The first abort of `signal` cancels the job and follows it to its end; `hurry` closes it and leaves. A sink that throws ends
 * the call with its error; the job goes on, and `followJob()` takes it up again.
 *
 * @throws {ClientError}, what the first dial threw if it is permanent, or what the caller's own functions throw
 */
export async function runAndFollow(dial: Dial, request: JobRequest, options: FollowOptions = {}): Promise<JobOutcome> {
  checkOptionNames("runAndFollow()", options, OPTION_NAMES);
  checkOptionNames("runAndFollow()", request, REQUEST_NAMES);
  const message = toMessage(request);
  const job: JobState = { id: message.id, isSent: false, isStarted: false };
  const withToken = { ...options, token: options.token ?? createJobToken() };
  return withLink(dial, job, withToken, async (link) => {
    await sendJob(link, { job, message }, options);
    return followToEnd(link, job.id, withToken);
  });
}

const MIB = 1024 * 1024;

// A service says no to a larger one too, each time it is asked.
function toMessage(request: JobRequest): RunRequest {
  const message = toRunRequest(request);
  const { length } = toBinary(RunRequestSchema, message);
  if (length <= MAX_MESSAGE_BYTES) return message;
  throw new ClientError(
    "REQUEST_INVALID",
    `The job has ${(length / MIB).toFixed(1)} MiB, and a service takes ${MAX_MESSAGE_BYTES / MIB} MiB`,
    { hint: "Put what is large where the job runs, and refer to it." },
  );
}

/** Starts a job and leaves it to the service. @throws as {@link runAndFollow} does */
export async function startJob(dial: Dial, request: JobRequest, options: FollowOptions = {}): Promise<{ id: string }> {
  checkOptionNames("startJob()", options, OPTION_NAMES);
  checkOptionNames("startJob()", request, REQUEST_NAMES);
  const message = toMessage(request);
  const job: JobState = { id: message.id, isSent: false, isStarted: false };
  return withLink(dial, job, options, async (link) => {
    await sendJob(link, { job, message }, options);
    return { id: job.id };
  });
}

/**
 * Follows a job that runs, or ran, to its end, from the offsets in `resume`; it is kept unless `keep` is false.
 *
 * @throws {ClientError} JOB_LOST if there is no such job; otherwise as {@link runAndFollow} does
 */
export async function followJob(dial: Dial, id: string, options: FollowOptions = {}): Promise<JobOutcome> {
  checkOptionNames("followJob()", options, OPTION_NAMES);
  const job: JobState = { id, isSent: true, isStarted: false };
  return withLink(dial, job, options, (link) => followToEnd(link, id, { ...options, keep: options.keep ?? true }));
}
