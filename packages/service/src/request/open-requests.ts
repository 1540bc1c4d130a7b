import { METRICS_TYPE } from "@steps/model/operation";
import type { JobTable } from "../job-submission.ts";
import { end, type ServerReply, type ServerRequest } from "./request-handler.ts";

const PATHS: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

/** Says whether a request asks for what everybody may know who reaches the service: no token is asked for. */
export function isOpenRequest({ method, url }: ServerRequest): boolean {
  return (method === "GET" || method === "HEAD") && PATHS.has(pathOf(url));
}

/**
 * Answers `/healthz` (the process is there), `/readyz` (it takes new jobs: 503 while it drains) and `/metrics` (figures in the text
 * format of Prometheus, none of which tells one job from another).
 */
export function answerOpenRequest(jobs: JobTable, request: ServerRequest, reply: ServerReply): void {
  request.on("error", () => undefined);
  reply.on("error", () => undefined);
  const path = pathOf(request.url);
  const isReady = path !== "/readyz" || !jobs.isDraining;
  const text =
    path === "/metrics" ? jobs.metrics() : isReady ? "ok\n" : "The service takes no new jobs: it is draining\n";
  end(request, reply, {
    status: isReady ? 200 : 503,
    headers: {
      "content-type": path === "/metrics" ? METRICS_TYPE : "text/plain; charset=utf-8",
      "cache-control": "no-store",
    },
    body: request.method === "HEAD" ? "" : text,
  });
}

function pathOf(url: string | undefined): string {
  return url?.split("?", 1)[0] ?? "";
}
