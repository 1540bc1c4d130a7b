import { isStepsError, StepsError } from "@steps/model";

/** The codes of `ServicesError`. They do not change. */
export type ServicesErrorCode =
  /** The folder of caches or artifacts cannot be made, read or written, or others may write to it. */
  | "SERVICES_FOLDER"
  /** No socket at the address. */
  | "SERVICES_LISTEN";

/** The services could not be started. The cause is the failure of the disk or the socket. */
export class ServicesError extends StepsError<ServicesErrorCode> {
  // It is told by its name, and a bundler may give the class another one.
  override readonly name: string = "ServicesError";
}

/** Whether something thrown is a `ServicesError` (with this code). */
export function isServicesError(error: unknown, code?: ServicesErrorCode): error is ServicesError {
  return isStepsError(error, code) && error.name === "ServicesError";
}

/** The code of a system error (`ENOENT`). */
export function systemCode(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
