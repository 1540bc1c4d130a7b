import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { gitlab } from "@steps/proto/service";
import type { JobHandle, JobInfo } from "../job-submission.ts";
import { ServiceError } from "../service-error.ts";
import { type ErrorKind, isGoClient, writeStatusError } from "./gitlab-newer.ts";
import { mayUse, requireJob, requireToken } from "./job-access.ts";
import { readLog } from "./log-calls.ts";
import { readGitlabRequest } from "./read-gitlab-request.ts";
import { assertMayRun, type CallContext, startJob } from "./start-job.ts";

/** GitLab's service, `proto.StepRunner`, over a job table: what its runner calls, byte for byte. */
export function gitlabService(context: CallContext): ServiceImpl<typeof gitlab.StepRunner> {
  const { jobs } = context;
  return {
    async run(request, { requestHeader }) {
      assertMayRun(context, request.id, requestHeader);
      // A repetition is not read again: it is answered whatever is in it.
      if (jobs.get(request.id) === undefined)
        startJob(context, await readGitlabRequest(request, context.workDir), requestHeader);
      return {};
    },
    async *followLogs(request, { requestHeader, signal }) {
      for await (const data of readLog(context, request, { headers: requestHeader, signal })) yield { data };
    },
    status({ id }, { requestHeader }) {
      const known = id === "" ? jobs.list() : [requireJobForStatus(context, id)];
      return { jobs: known.map((job) => statusMessage(job, requestHeader)) };
    },
    cancel({ id }, { requestHeader }) {
      requireJob(jobs, id, requestHeader).cancel();
      return {};
    },
    async close({ id }, { requestHeader }) {
      const job = jobs.get(id);
      if (job === undefined) return {};
      requireToken(job, requestHeader);
      await jobs.close(id);
      return {};
    },
  };
}

// Status is for everybody, as List is; what it holds back is the message.
function requireJobForStatus({ jobs }: CallContext, id: string): JobHandle {
  const job = jobs.get(id);
  if (job === undefined) throw new ServiceError("JOB_NOT_FOUND", `There is no job "${id.slice(0, 256)}"`);
  return job;
}

function statusMessage(job: JobHandle, headers: Headers): gitlab.Status {
  const { info } = job;
  const { id, startedAt, finishedAt } = info;
  const message = failureText(info, mayUse(job, headers));
  const status = create(gitlab.StatusSchema, {
    id,
    message,
    status: gitlabStatus(info.status),
    startTime: timestampFromMs(startedAt),
    endTime: finishedAt === undefined ? undefined : timestampFromMs(finishedAt),
  });
  const kind = kindOf(info);
  if (kind !== undefined && isGoClient(headers)) status.$unknown = writeStatusError(kind, message);
  return status;
}

function gitlabStatus(status: JobInfo["status"]): gitlab.StepResult_Status {
  if (status === "running") return gitlab.StepResult_Status.running;
  if (status === "success" || status === "skipped") return gitlab.StepResult_Status.success;
  return status === "cancelled" ? gitlab.StepResult_Status.cancelled : gitlab.StepResult_Status.failure;
}

// GitLab's runner reads the exit code from the end of the text.
function failureText({ status, error, exitCode }: JobInfo, isFull: boolean): string {
  if (status === "running" || status === "success" || status === "skipped") return "";
  const end = `exit status ${exitCode ?? 1}`;
  const text = isFull ? (error?.message ?? "") : "";
  if (text === "") return end;
  return text.endsWith(end) ? text : `${text}: ${end}`;
}

function kindOf({ status }: JobInfo): ErrorKind | undefined {
  switch (status) {
    case "running":
    case "success":
    case "skipped":
      return undefined;
    case "failure":
      return "step_failure";
    case "error":
    case "interrupted":
      return "internal";
    case "cancelled":
    case "timeout":
      return status;
  }
}
