import { MESSAGE_LIMITS } from "../names.ts";
import { type Message, messageOf } from "../shape/message.ts";
import { anything, optional, record, table, text } from "../shape/shape.ts";
import { type RunnerInfo, runnerInfo } from "./runner-info.ts";

/** `POST /jobs/request`: asks for a job. */
export interface JobRequest {
  /** Absent where a header has it. */
  readonly token?: string | undefined;
  /** Absent of old clients. */
  readonly system_id?: string | undefined;
  /** The last `X-GitLab-Last-Update`. Absent in a client's first request, and always from clients that know of none. */
  readonly last_update?: string | undefined;
  readonly info: RunnerInfo;
  /** The address of the runner's session server. */
  readonly session?: Readonly<Record<string, unknown>> | undefined;
}

/** `POST /jobs/request`. */
export const JOB_REQUEST: Message<JobRequest> = messageOf(
  record<JobRequest>({
    token: optional(text),
    system_id: optional(text),
    last_update: optional(text),
    info: runnerInfo,
    session: optional(table(anything)),
  }),
  MESSAGE_LIMITS.request,
);
