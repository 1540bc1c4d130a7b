import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServiceLimits } from "../options.ts";

/** One request on its way through a handler. */
export interface HttpContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly limits: ServiceLimits;
  /** The parts of the path that the route's pattern captured. */
  readonly params: readonly string[];
}

/** A method, a pattern of the whole path, and who answers. */
export interface Route {
  readonly method: string;
  readonly path: RegExp;
  readonly handle: (context: HttpContext) => Promise<void>;
}
