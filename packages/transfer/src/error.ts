import { isStepsError, StepsError } from "@steps/model";

/** The codes of `TransferError`. They do not change; docs/reference/errors.md lists them. */
export type TransferErrorCode =
  /** A URL or the name of an image that names nothing. */
  | "REFERENCE_INVALID"
  /** There is nothing at the address. */
  | "REPOSITORY_NOT_FOUND"
  | "AUTH_FAILED"
  /** The network, or a server that does not answer as it has to. */
  | "TRANSPORT"
  | "ARCHIVE_INVALID"
  | "ARCHIVE_TOO_LARGE"
  /** An entry of an archive that would reach beyond its folder, or that no folder can hold. */
  | "UNSAFE_ENTRY"
  | "CANCELLED";

/** Something could not be brought here or sent there. The cause is the failure of the network or of the archive. */
export class TransferError extends StepsError<TransferErrorCode> {
  // It is told by its name, and a bundler may give the class another one.
  override readonly name: string = "TransferError";
}

/** Throws `CANCELLED`, or the signal's own reason, once a signal is aborted. */
export function throwIfCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw cancelled(signal);
}

/** The error of an aborted signal: `CANCELLED`, or the signal's own reason where that is an error of ours. */
export function cancelled({ reason }: AbortSignal): StepsError {
  if (isStepsError(reason)) return reason;
  return new TransferError("CANCELLED", "Cannot resolve component: the request was cancelled", { cause: reason });
}

/** The code of a system error (`ENOENT`). */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
