import { Code, ConnectError } from "@connectrpc/connect";
import { isStepsError } from "@steps/model";
import { ServiceError, type ServiceErrorCode } from "../service-error.ts";

/** The metadata that carries the code of our error beside gRPC's coarser one. */
export const ERROR_HEADER = "step-runner-error";

/** The code on the wire of each refusal. */
const WIRE_CODES: Readonly<Record<ServiceErrorCode, Code>> = {
  JOB_EXISTS: Code.AlreadyExists,
  JOB_CLOSED: Code.FailedPrecondition,
  JOB_NOT_FOUND: Code.NotFound,
  JOB_RUNNING: Code.FailedPrecondition,
  TOO_MANY_JOBS: Code.ResourceExhausted,
  SERVICE_DRAINING: Code.Unavailable,
  OFFSET_OUT_OF_RANGE: Code.OutOfRange,
  REQUEST_INVALID: Code.InvalidArgument,
  TOKEN_MISSING: Code.Unauthenticated,
  TOKEN_WRONG: Code.PermissionDenied,
  WORK_DIR_UNUSABLE: Code.FailedPrecondition,
  LOG_DAMAGED: Code.DataLoss,
  STATE_IN_USE: Code.Internal,
  STATE_UNUSABLE: Code.Internal,
  COMMAND_UNUSABLE: Code.Internal,
  SOCKET_IN_USE: Code.Internal,
  SOCKET_UNUSABLE: Code.Internal,
};

// Trailers are headers: a peer takes 64 KiB of them at most, and each byte of a message may become three.
const MAX_MESSAGE_UNITS = 8 * 1024;

/**
 * Returns the error that a client is told. It is `undefined` for a fault of ours, of which the client learns only that
 * it happened.
 */
export function connectErrorOf(error: unknown): ConnectError | undefined {
  if (error instanceof ConnectError) return error;
  if (!isStepsError(error)) return undefined;
  const code = error instanceof ServiceError ? WIRE_CODES[error.code] : Code.Internal;
  const text = error.hint === undefined ? error.message : `${error.message}\n  hint: ${error.hint}`;
  return new ConnectError(wireText(text), code, { [ERROR_HEADER]: error.code });
}

/** A text that fits into a trailer. A lone surrogate would break its encoding. */
export function wireText(text: string): string {
  const whole = text.toWellFormed();
  return whole.length <= MAX_MESSAGE_UNITS ? whole : `${whole.slice(0, MAX_MESSAGE_UNITS).toWellFormed()}…`;
}
