import { type Route, route } from "../http/route.ts";
import type { Pod, RunnerHome } from "../pod/pod.ts";
import { getArtifacts } from "./get-artifacts.ts";
import { patchTrace } from "./patch-trace.ts";
import { postArtifacts } from "./post-artifacts.ts";
import { requestJob } from "./request-job.ts";
import {
  discoverRouter,
  registerRunner,
  removeManager,
  removeRunner,
  resetRunnerToken,
  verifyRunner,
} from "./runner-calls.ts";
import { putJob } from "./update-call.ts";

/** The calls of GitLab's runner API. */
export function runnerApiRoutes(pod: Pod): readonly Route[] {
  return [
    route("POST", "/api/v4/jobs/request", async (exchange) => await requestJob(pod, exchange)),
    route("PATCH", "/api/v4/jobs/:id/trace", async (exchange, [id]) => await patchTrace(pod, exchange, Number(id))),
    route("PUT", "/api/v4/jobs/:id", async (exchange, [id]) => await putJob(pod, exchange, Number(id))),
    route(
      "POST",
      "/api/v4/jobs/:id/artifacts",
      async (exchange, [id]) => await postArtifacts(pod, exchange, Number(id)),
    ),
    route("GET", "/api/v4/jobs/:id/artifacts", async (exchange, [id]) => await getArtifacts(pod, exchange, Number(id))),
    ...registrationRoutes(pod),
  ];
}

/** The calls about runners themselves, which a daemon answers for its own as a pod does. */
export function registrationRoutes(home: RunnerHome): readonly Route[] {
  return [
    route("POST", "/api/v4/runners", async (exchange) => await registerRunner(home, exchange)),
    route("POST", "/api/v4/runners/verify", async (exchange) => await verifyRunner(home, exchange)),
    route("DELETE", "/api/v4/runners", async (exchange) => await removeRunner(home, exchange)),
    route("DELETE", "/api/v4/runners/managers", async (exchange) => await removeManager(home, exchange)),
    route(
      "POST",
      "/api/v4/runners/reset_authentication_token",
      async (exchange) => await resetRunnerToken(home, exchange),
    ),
    route("GET", "/api/v4/runners/router/discovery", async (exchange) => await discoverRouter(home, exchange)),
  ];
}
