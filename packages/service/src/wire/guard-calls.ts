import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { describeFault, type OperatorLog } from "../operator-log.ts";
import { connectErrorOf } from "./connect-error.ts";

/**
 * Turns whatever a call throws into an error of the wire. A fault of ours is INTERNAL without its text, which may hold a
 * part of the request; where it happened goes to the operator's log.
 */
export function guardCalls(log: OperatorLog): Interceptor {
  return (next) => async (request) => {
    const tell = (error: unknown): ConnectError => {
      if (request.signal.aborted) return ConnectError.from(request.signal.reason, Code.Canceled);
      const known = connectErrorOf(error);
      if (known !== undefined) return known;
      log(`${request.method.parent.typeName}/${request.method.name} failed: ${describeFault(error)}`);
      return new ConnectError("The service failed; its log says where", Code.Internal);
    };
    try {
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: guarded(response.message, tell) };
    } catch (error) {
      throw tell(error);
    }
  };
}

async function* guarded<T>(messages: AsyncIterable<T>, tell: (error: unknown) => ConnectError): AsyncIterable<T> {
  try {
    yield* messages;
  } catch (error) {
    throw tell(error);
  }
}
