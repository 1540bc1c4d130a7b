import { HEADERS, MESSAGE_LIMITS } from "@steps/runner-api";
import { JOB_REQUEST } from "@steps/runner-api/messages";
import { accessRunner } from "../api/runner-access.ts";
import { confirms, contact, holdOf, type Waiting, waitForJob } from "../api/wait-for-job.ts";
import type { Exchange } from "../http/exchange.ts";
import type { ClaimAnswer, ClaimRequest } from "../link/messages.ts";
import type { Daemon } from "./daemon.ts";
import { dropOffer, freeOffer, noteClaimed, type Reservation } from "./reserve-offers.ts";

/** How many offers a request tries that turn out to be gone before its runner asks again. */
const MAX_TRIES = 10;

/** `POST /jobs/request`: finds an offer, claims the job at its pod, and gives it to the runner. */
export async function requestJob(daemon: Daemon, exchange: Exchange): Promise<void> {
  const request = JOB_REQUEST.read(await exchange.body(MESSAGE_LIMITS.request));
  const { runner } = await accessRunner(daemon, exchange, request.token);
  const managerId = await contact(daemon, runner, request);
  if (runner.paused) return exchange.empty(204);
  const waiting = { exchange, request, runner, managerId, until: performance.now() + holdOf(daemon) };
  const first = await waitForJob(daemon, waiting);
  let { job: offer, ticket } = first;
  for (let tries = 1; offer !== undefined; tries++) {
    const job = await claim(daemon, offer, waiting);
    if (job !== undefined) return await handOver(daemon, waiting, offer, job);
    // Another offer may be there: a ticket that nobody has makes the queue look again.
    if (tries === MAX_TRIES) return exchange.empty(204, { [HEADERS.lastUpdate]: "0" });
    ({ job: offer, ticket } = await waitForJob(daemon, {
      ...waiting,
      request: { ...request, last_update: undefined },
    }));
  }
  exchange.empty(204, { [HEADERS.lastUpdate]: ticket });
}

type Given = ClaimAnswer & Required<Pick<ClaimAnswer, "attempt" | "project_id">>;

/** Claims the job of an offer at its pod; undefined when the runner does not get it. */
async function claim(daemon: Daemon, offer: Reservation, waiting: Waiting): Promise<Given | undefined> {
  const { database, metrics, links } = daemon;
  const answer = (await links.get(offer.pod)?.claim(claimOf(offer, waiting))) ?? "unavailable";
  if (answer === "unavailable") {
    metrics.add("offer_claims_total", { outcome: "unavailable" });
    await freeOffer(database, offer);
    return undefined;
  }
  const { attempt, project_id } = answer;
  if (attempt === undefined || project_id === undefined) {
    metrics.add("offer_claims_total", { outcome: "gone" });
    await dropOffer(database, offer);
    return undefined;
  }
  metrics.add("offer_claims_total", { outcome: "given" });
  return { ...answer, attempt, project_id };
}

function claimOf(offer: Reservation, { runner, request, managerId }: Waiting): ClaimRequest {
  const { features } = request.info;
  return {
    job_id: offer.job_id,
    attempt: offer.attempt,
    claim_id: offer.claim_id,
    runner: {
      id: runner.id,
      description: runner.description,
      tags: runner.tags,
      run_untagged: runner.run_untagged,
      protected: runner.protected,
      maximum_timeout: runner.maximum_timeout_s ?? undefined,
    },
    manager_id: managerId,
    confirms: confirms(request.info),
    cancels_gracefully: features["cancel_gracefully"] === true,
    features: Object.keys(features).filter((name) => features[name] === true),
  };
}

async function handOver(
  daemon: Daemon,
  { exchange, runner, managerId }: Waiting,
  offer: Reservation,
  job: Given,
): Promise<void> {
  const { job_id: id, attempt, project_id: projectId, payload } = job;
  if (!exchange.isOpen) {
    daemon.metrics.add("jobs_released_total");
    await daemon.links.get(offer.pod)?.release(id, attempt);
    // The pod offers the job anew.
    return await dropOffer(daemon.database, offer);
  }
  daemon.metrics.add("jobs_assigned_total");
  const facts = { job: id, attempt, pod: offer.pod, runner: runner.id, manager: managerId };
  daemon.settings.log("info", "A job was given to a runner", facts);
  exchange.json(201, payload);
  // The answer does not wait for it: until it is written down, the offer is reserved.
  await noteClaimed(daemon.database, offer, projectId, runner.id);
}
