import { StepsError } from "@steps/model";

/**
 * Why a call has no answer that can be used: nobody answers there (`SERVER_UNREACHABLE`), the connection cannot be
 * trusted or the URL makes no sense (`CLIENT_CONFIG`), the answer is none of the API (`ANSWER_INVALID`), or the caller
 * gave up (`CANCELLED`).
 */
export type RunnerClientErrorCode = "SERVER_UNREACHABLE" | "CLIENT_CONFIG" | "ANSWER_INVALID" | "CANCELLED";

/** A call without an answer. Messages hold no tokens. */
export class RunnerClientError extends StepsError<RunnerClientErrorCode> {}
