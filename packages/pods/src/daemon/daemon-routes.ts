import { METRICS_TYPE } from "@steps/model/operation";
import { DAEMON_NUMBER, podOfId } from "@steps/pod-tokens";
import { deleteRunner, getRunners, patchRunner, postRunner } from "../admin/runner-calls.ts";
import { requireAdmin } from "../admin/admin-token.ts";
import { registrationRoutes } from "../api/runner-api-routes.ts";
import { HttpError, unavailable } from "../http/http-error.ts";
import { type Handler, type Route, route } from "../http/route.ts";
import { requireLink } from "../link/link-token.ts";
import { NEWS_BATCH } from "../link/messages.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Daemon } from "./daemon.ts";
import { formatDaemonGauges, linkViews } from "./link-views.ts";
import { requestJob } from "./request-job.ts";
import { takeNews } from "./take-news.ts";

/** All calls of a daemon: of runners, of its owner, of its pods, and of whoever looks after it. */
export function daemonRoutes(daemon: Daemon, token: string): readonly Route[] {
  return [...runnerRoutes(daemon), ...ownerRoutes(daemon, token), ...openRoutes(daemon)];
}

function runnerRoutes(daemon: Daemon): readonly Route[] {
  return [
    route("POST", "/api/v4/jobs/request", async (exchange) => await requestJob(daemon, exchange)),
    ...registrationRoutes(daemon),
    ...["PUT /api/v4/jobs/:id", "PATCH /api/v4/jobs/:id/trace", "POST /api/v4/jobs/:id/artifacts"].map((call) => {
      const [method = "", path = ""] = call.split(" ");
      return route(method, path, async (_, [id]) => await refuseJobCall(daemon, Number(id)));
    }),
  ];
}

/** Calls about a job are for its pod; they came here because the runner does not know the router. */
async function refuseJobCall({ settings }: Daemon, id: number): Promise<never> {
  settings.log("warning", "A runner has the URL of the daemon; give it that of the router", {
    job: id,
    pod: podOfId(id),
  });
  throw unavailable("503 Service Unavailable: the calls of a job go to its pod, by the router");
}

function ownerRoutes(daemon: Daemon, token: string): readonly Route[] {
  const admin = (method: string, path: string, handle: Handler): Route =>
    route(method, `/api/pod/v1${path}`, async (exchange, params) => {
      requireAdmin(exchange, token);
      await handle(exchange, params);
    });
  return [
    admin("POST", "/runners", async (exchange) => await postRunner(daemon, exchange)),
    admin("GET", "/runners", async (exchange) => await getRunners(daemon, exchange)),
    admin("PATCH", "/runners/:id", async (exchange, [id]) => await patchRunner(daemon, exchange, Number(id))),
    admin("DELETE", "/runners/:id", async (exchange, [id]) => await deleteRunner(daemon, exchange, Number(id))),
    admin("GET", "/links", async (exchange) => exchange.json(200, await linkViews(daemon))),
    admin("POST", "/links/:id", async (exchange, [id]) => tellLink(daemon, exchange, Number(id))),
  ];
}

function tellLink({ links, linkToken, settings }: Daemon, exchange: Exchange, pod: number): void {
  const link = links.get(pod);
  if (link === undefined) throw new HttpError(404, `The file of the daemon has no pod ${pod}`);
  exchange.json(201, { pod, pod_url: link.url, daemon_url: settings.url, token: linkToken(pod) });
}

function openRoutes(daemon: Daemon): readonly Route[] {
  const { database, metrics } = daemon;
  return [
    route("POST", "/internal/v1/offers", async (exchange) => await postNews(daemon, exchange)),
    route("GET", "/healthz", async (exchange) => exchange.text(200, "ok\n")),
    route("GET", "/readyz", async (exchange) => {
      await database.query("SELECT 1").catch(() => {
        throw unavailable("The database does not answer");
      });
      exchange.text(200, "ok\n");
    }),
    route("GET", "/metrics", async (exchange) =>
      exchange.text(200, metrics.format() + (await formatDaemonGauges(daemon)), {
        "content-type": METRICS_TYPE,
      }),
    ),
  ];
}

/** `POST /internal/v1/offers`: news of a pod. 409 when it has to begin a new session. */
async function postNews(daemon: Daemon, exchange: Exchange): Promise<void> {
  const news = NEWS_BATCH.read(await exchange.body(MAX_NEWS));
  const link = daemon.links.get(news.pod);
  // A pod that is none of ours gets the same answer as one without the token.
  requireLink(exchange, daemon.linkToken(link === undefined ? DAEMON_NUMBER : news.pod));
  if (news.batch === 1) link?.heard();
  const taken = await takeNews(daemon.database, news);
  daemon.metrics.add("offer_news_total", {}, news.jobs.length);
  if (taken === "offers") daemon.database.hint("queue");
  exchange.json(taken === "begin anew" ? 409 : 200, {});
}

const MAX_NEWS = 16 * 1024 * 1024;
