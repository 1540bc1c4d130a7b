import { StepsError } from "@steps/model";

/**
 * Why a message of the runner API cannot be used: it is no JSON, a value has the wrong type or is missing
 * (`MESSAGE_INVALID`; the message of the error names the place), or it is larger than it may be (`MESSAGE_TOO_LARGE`).
 */
export type RunnerApiErrorCode = "MESSAGE_INVALID" | "MESSAGE_TOO_LARGE";

/** A message of the runner API that cannot be read or written. It quotes no values, which may be tokens. */
export class RunnerApiError extends StepsError<RunnerApiErrorCode> {}
