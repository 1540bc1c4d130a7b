import { type Handler, type Route, route } from "../http/route.ts";
import type { Pod } from "../pod/pod.ts";
import { requireAdmin } from "./admin-token.ts";
import { getArtifact, getJob, getJobs, getTrace, postCancel, postPlay, postRetry } from "./job-calls.ts";
import { getPipeline, getPipelines, postPipeline, postPipelineCancel } from "./pipeline-calls.ts";
import { deleteRunner, getRunners, patchRunner, postRunner } from "./runner-calls.ts";
import { createUserRunner, resetTokenOfRunner } from "./user-calls.ts";

/** Everything below `/api/pod/v1`, and the calls of GitLab's API about runners for their users: for those who have the owner's token. */
export function adminRoutes(pod: Pod, token: string): readonly Route[] {
  const owner = (method: string, path: string, handle: Handler): Route =>
    route(method, path, async (exchange, params) => {
      requireAdmin(exchange, token);
      await handle(exchange, params);
    });
  const admin = (method: string, path: string, handle: Handler): Route => owner(method, `/api/pod/v1${path}`, handle);
  return [
    admin("POST", "/pipelines", async (exchange) => await postPipeline(pod, exchange)),
    admin("GET", "/pipelines", async (exchange) => await getPipelines(pod, exchange)),
    admin("GET", "/pipelines/:id", async (exchange, [id]) => await getPipeline(pod, exchange, Number(id))),
    admin(
      "POST",
      "/pipelines/:id/cancel",
      async (exchange, [id]) => await postPipelineCancel(pod, exchange, Number(id)),
    ),
    admin("GET", "/jobs", async (exchange) => await getJobs(pod, exchange)),
    admin("GET", "/jobs/:id", async (exchange, [id]) => await getJob(pod, exchange, Number(id))),
    admin("POST", "/jobs/:id/cancel", async (exchange, [id]) => await postCancel(pod, exchange, Number(id))),
    admin("POST", "/jobs/:id/retry", async (exchange, [id]) => await postRetry(pod, exchange, Number(id))),
    admin("POST", "/jobs/:id/play", async (exchange, [id]) => await postPlay(pod, exchange, Number(id))),
    admin("GET", "/jobs/:id/trace", async (exchange, [id]) => await getTrace(pod, exchange, Number(id))),
    admin(
      "GET",
      "/jobs/:id/artifacts/:name",
      async (exchange, [id, type]) => await getArtifact(pod, exchange, Number(id), type ?? ""),
    ),
    admin("POST", "/runners", async (exchange) => await postRunner(pod, exchange)),
    admin("GET", "/runners", async (exchange) => await getRunners(pod, exchange)),
    admin("PATCH", "/runners/:id", async (exchange, [id]) => await patchRunner(pod, exchange, Number(id))),
    owner("POST", "/api/v4/user/runners", async (exchange) => await createUserRunner(pod, exchange)),
    owner(
      "POST",
      "/api/v4/runners/:id/reset_authentication_token",
      async (exchange, [id]) => await resetTokenOfRunner(pod, exchange, Number(id)),
    ),
    admin("DELETE", "/runners/:id", async (exchange, [id]) => await deleteRunner(pod, exchange, Number(id))),
  ];
}
