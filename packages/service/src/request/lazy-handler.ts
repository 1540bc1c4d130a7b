import { messageOf } from "@steps/model";
import type { Log } from "@steps/model/operation";
import type { RequestHandler } from "./request-handler.ts";

/** A handler that is made when the first request comes. Requests that come meanwhile wait for it. */
export function lazyHandler(make: () => Promise<RequestHandler>, log: Log): RequestHandler {
  let handler: RequestHandler | undefined;
  let making: Promise<RequestHandler> | undefined;
  return (request, reply) => {
    if (handler !== undefined) {
      handler(request, reply);
      return;
    }
    const ignore = (): void => undefined;
    request.on("error", ignore);
    reply.on("error", ignore);
    making ??= make().finally(() => {
      making = undefined;
    });
    making
      .then((made) => {
        handler = made;
        made(request, reply);
      })
      .catch((cause: unknown) => {
        log("error", "The service cannot answer", { reason: messageOf(cause) });
        reply.destroy();
      });
  };
}
