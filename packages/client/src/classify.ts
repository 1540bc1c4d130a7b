import { Code, ConnectError } from "@connectrpc/connect";
import { ClientError } from "./client-error.ts";

/**
 * The codes of answers that would be the same if the call were made again. A lost connection never has one of them,
 * except `Unavailable`.
 */
const FINAL: ReadonlySet<Code> = new Set([
  Code.InvalidArgument,
  Code.Unauthenticated,
  Code.PermissionDenied,
  Code.Unimplemented,
  Code.OutOfRange,
  Code.DataLoss,
  Code.AlreadyExists,
  Code.FailedPrecondition,
  Code.NotFound,
]);

/** Whether trying again would give the same answer. An error that no call gave is not ours to retry. */
export function isFinal(error: unknown): boolean {
  return !(error instanceof ConnectError) || FINAL.has(error.code);
}

/** A dial may say that it would fail again. @see DialError of `@steps/dial` */
export function isPermanent(error: unknown): boolean {
  return error instanceof Error && (error as { readonly isPermanent?: unknown }).isPermanent === true;
}

/** Permanent ones that do not heal: nobody shall hammer at a door with a wrong key. */
export function isDenied(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown };
  return isPermanent(error) && (code === "DENIED" || code === "ADDRESS_INVALID");
}

/** The text between the message of a service and its hint. */
export const HINT = "\n  hint: ";

/** The service's own word for why it refused a call, if it said one. */
export function serviceCodeOf(error: unknown): string | undefined {
  return error instanceof ConnectError ? (error.metadata.get("step-runner-error") ?? undefined) : undefined;
}

/** Whether a service says that it has not taken a job, and may take it later. */
export function isPutOff(error: unknown): boolean {
  return ["TOO_MANY_JOBS", "SERVICE_DRAINING"].includes(serviceCodeOf(error) ?? "");
}

/**
 * Turns a service's final answer about a job into the error that the caller sees. Other errors are returned unchanged.
 */
export function toClientError(error: unknown, job: { readonly id: string; readonly lost: () => string }): unknown {
  if (!(error instanceof ConnectError)) return error;
  // The service has hints too, and one text to put them in.
  const [text = "", hint] = error.rawMessage.split(HINT);
  const serviceCode = serviceCodeOf(error);
  const options = { cause: error, hint, serviceCode };
  switch (error.code) {
    case Code.NotFound:
      return new ClientError("JOB_LOST", job.lost(), options);
    case Code.OutOfRange:
    case Code.DataLoss:
      return new ClientError("LOG_DAMAGED", `The log of job "${job.id}" cannot be read on: ${text}`, options);
    case Code.InvalidArgument:
      return new ClientError("REQUEST_INVALID", error.rawMessage, { cause: error, serviceCode });
    default:
      return new ClientError(
        "REFUSED",
        `The service refused${job.id === "" ? "" : ` job "${job.id}"`}: ${text}`,
        options,
      );
  }
}
