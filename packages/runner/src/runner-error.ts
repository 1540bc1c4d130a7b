import { StepsError } from "@steps/model";

/**
 * Why a runner cannot be set up or do a job: the configuration is malformed (`CONFIG_INVALID`) or cannot be read or written
 * (`CONFIG_IO`), the server refuses the token (`TOKEN_REFUSED`) or answers something else than it should
 * (`SERVER_REFUSED`), another process takes jobs with this state (`RUNNER_BUSY`), or a job has no place to run in
 * (`PLACE_FAILED`), because an image cannot be had (`IMAGE_FAILED`).
 */
export type RunnerErrorCode =
  | "CONFIG_INVALID"
  | "CONFIG_IO"
  | "TOKEN_REFUSED"
  | "SERVER_REFUSED"
  | "RUNNER_BUSY"
  | "PLACE_FAILED"
  | "IMAGE_FAILED";

/** A runner cannot be set up, or a job has no place to run in. Messages hold no tokens. */
export class RunnerError extends StepsError<RunnerErrorCode> {}
