import { type Route, route } from "../http/route.ts";
import type { Pod } from "../pod/pod.ts";
import { postClaims, postRelease } from "./claim-calls.ts";
import { requireLink } from "./link-token.ts";

/** The calls of the pod's daemon; there are none without a daemon. */
export function linkRoutes(pod: Pod): readonly Route[] {
  const { daemon } = pod.settings;
  if (daemon === undefined) return [];
  return [
    route("POST", "/internal/v1/claims", async (exchange) => {
      requireLink(exchange, daemon.token);
      await postClaims(pod, exchange);
    }),
    route("POST", "/internal/v1/jobs/:id/release", async (exchange, [id]) => {
      requireLink(exchange, daemon.token);
      await postRelease(pod, exchange, Number(id));
    }),
  ];
}
