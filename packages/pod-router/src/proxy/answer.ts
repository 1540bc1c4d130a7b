import type { ServerResponse } from "node:http";

/** Seconds after which a runner asks again. The official runner reads whole numbers only. */
const RETRY_AFTER = "2";

/**
 * An answer of the router itself. It never is 403, by which runners would stop a job or be silent for an hour, and 404 only for what
 * no runner asks for.
 */
export interface OwnAnswer {
  readonly status: 200 | 307 | 400 | 404 | 408 | 413 | 503;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The number of the pod that could not have the request, for the log. */
  readonly pod?: number | undefined;
}

/** The answer to a client whose body is silent or too slow. */
export const LATE_BODY: OwnAnswer = {
  status: 408,
  message: "The rest of the body did not come in time",
  headers: { Connection: "close" },
};

/** Answers in the pod's place. Nothing happens if an answer has begun. */
export function answer(response: ServerResponse, { status, message, headers }: OwnAnswer): void {
  if (response.headersSent || response.destroyed) return;
  const retry = status === 503 ? { "Retry-After": RETRY_AFTER } : {};
  response.writeHead(status, { "Content-Type": "application/json", ...retry, ...headers });
  response.end(JSON.stringify({ message }));
}
