import { METRICS_TYPE } from "@steps/model/operation";
import { toJsonWebKeySet } from "@steps/pod-tokens/keys";
import { HttpError } from "../http/http-error.ts";
import { type Route, route } from "../http/route.ts";
import type { Pod } from "../pod/pod.ts";
import { formatGauges } from "./gauges.ts";

/** The routes that anybody may read: health, figures, and the keys that verify the tokens of jobs. */
export function publicRoutes(pod: Pod): readonly Route[] {
  return [
    route("GET", "/healthz", async (exchange) => exchange.text(200, "ok\n")),
    route("GET", "/readyz", async (exchange) => {
      try {
        await pod.database.query("SELECT 1");
      } catch {
        throw new HttpError(503, "The database does not answer", { "retry-after": "2" });
      }
      exchange.text(200, "ok\n");
    }),
    route("GET", "/metrics", async (exchange) =>
      exchange.text(200, pod.metrics.format() + (await formatGauges(pod)), {
        "content-type": METRICS_TYPE,
      }),
    ),
    route("GET", "/.well-known/jwks.json", async (exchange) =>
      exchange.json(200, toJsonWebKeySet(pod.keys.verify), { "cache-control": "max-age=300" }),
    ),
  ];
}
