import { fromJson, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { RunStatus, type StepResult, StepResultSchema } from "@steps/proto";
import { Job_JobStatus, type JobSchema } from "@steps/proto/service";
import type { JobInfo, ResultState } from "../job-submission.ts";

/** A job as our service tells of it; why it failed only to those who may use it. */
export function jobMessage(info: JobInfo, mayUse: boolean): MessageInitShape<typeof JobSchema> {
  const { id, status, startedAt, finishedAt, exitCode, error, stdoutBytes, stderrBytes } = info;
  return {
    id,
    status: seedStatus(status),
    startedTime: timestampFromMs(startedAt),
    finishedTime: finishedAt === undefined ? undefined : timestampFromMs(finishedAt),
    ...(status === "running" ? {} : { runStatus: RunStatus[status] }),
    exitCode,
    ...(error === undefined || !mayUse ? {} : { error }),
    stdoutBytes: BigInt(stdoutBytes),
    stderrBytes: BigInt(stderrBytes),
  };
}

function seedStatus(status: JobInfo["status"]): Job_JobStatus {
  if (status === "running") return Job_JobStatus.running;
  return status === "success" ? Job_JobStatus.suceeded : Job_JobStatus.failed;
}

// All followers of a job are told the same tree.
const messages = new WeakMap<ResultState["result"], StepResult>();

/** The message of a result tree. */
export function resultMessage({ result }: ResultState): StepResult {
  const known = messages.get(result);
  if (known !== undefined) return known;
  const message = fromJson(StepResultSchema, result, { ignoreUnknownFields: true });
  messages.set(result, message);
  return message;
}
