import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import type { Log } from "@steps/model/operation";
import { describeFault } from "../describe-fault.ts";
import { connectErrorOf } from "./connect-error.ts";

/**
 * Turns whatever a call throws into an error of the wire. A fault of ours is INTERNAL without its text, which may hold a
 * part of the request; where it happened goes to the operator's log.
 */
export function guardCalls(log: Log): Interceptor {
  return (next) => async (request) => {
    const name = `${request.method.parent.typeName}/${request.method.name}`;
    const tell = (error: unknown): ConnectError => wireErrorOf(error, { signal: request.signal, name, log });
    try {
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: guarded(response.message, tell) };
    } catch (error) {
      throw tell(error);
    }
  };
}

/** Turns an error that a call threw into the error for its client. */
export function wireErrorOf(
  error: unknown,
  call: { readonly signal: AbortSignal; readonly name: string; readonly log: Log },
): ConnectError {
  const { signal, name, log } = call;
  if (signal.aborted) return ConnectError.from(signal.reason, Code.Canceled);
  const known = connectErrorOf(error);
  if (known !== undefined) return known;
  log("error", "A call failed", { call: name, fault: describeFault(error) });
  return new ConnectError("The service failed; its log says where", Code.Internal);
}

async function* guarded<T>(messages: AsyncIterable<T>, tell: (error: unknown) => ConnectError): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (error) {
    throw tell(error);
  }
}
