import { MESSAGE_LIMITS } from "../names.ts";
import { type Message, messageOf } from "../shape/message.ts";
import { count, defaulted, integer, optional, record, text, word } from "../shape/shape.ts";
import { type RunnerInfo, runnerInfo } from "./runner-info.ts";

/** The states that a runner reports. */
export type ReportedState = "pending" | "running" | "success" | "failed";

/** `PUT /jobs/ID`: tells how a job is doing. */
export interface JobUpdate {
  /** Absent where a header has it. */
  readonly token?: string | undefined;
  readonly info: RunnerInfo;
  /** Absent when an old client only asks whether its token is still good. */
  readonly state?: ReportedState | (string & {}) | undefined;
  readonly failure_reason?: string | undefined;
  /** An older place of `output.checksum`. */
  readonly checksum?: string | undefined;
  /** The checksum of the whole trace, sent with the last update. */
  readonly output?: JobOutput | undefined;
  /** Absent: 0. */
  readonly exit_code?: number | undefined;
  readonly runtime_environment_key?: string | undefined;
  /** The whole trace, as clients before patches sent it. */
  readonly trace?: string | undefined;
}

/** The length and checksum that a trace must have once all of it has arrived. */
export interface JobOutput {
  /** `crc32:` and eight hexadecimal digits. */
  readonly checksum: string;
  readonly bytesize: number;
}

/** `PUT /jobs/ID`. */
export const JOB_UPDATE: Message<JobUpdate> = messageOf(
  record<JobUpdate>({
    token: optional(text),
    info: runnerInfo,
    state: optional(word("pending", "running", "success", "failed")),
    failure_reason: optional(text),
    checksum: optional(text),
    output: optional(record<JobOutput>({ checksum: defaulted(text, ""), bytesize: defaulted(count, 0) })),
    exit_code: optional(integer),
    runtime_environment_key: optional(text),
    trace: optional(text),
  }),
  MESSAGE_LIMITS.update,
);
