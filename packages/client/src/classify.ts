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

/**
 * Turns a service's final answer about a job into the error that the caller sees. Other errors are returned unchanged.
 */
export function toClientError(error: unknown, job: { readonly id: string; readonly lost: () => string }): unknown {
  if (!(error instanceof ConnectError)) return error;
  // The service has hints too, and one text to put them in.
  const [text = "", hint] = error.rawMessage.split("\n  hint: ");
  const serviceCode = error.metadata.get("step-runner-error") ?? undefined;
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
