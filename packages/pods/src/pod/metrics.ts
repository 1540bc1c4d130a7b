import { Counters } from "@steps/model/operation";

/** The counts of a pod or a daemon. */
export type PodCounters = Counters<keyof typeof COUNTERS>;

/** Counts what happens in this process, for `/metrics`. */
export function countersOfPod(): PodCounters {
  return new Counters("pod", COUNTERS);
}

const COUNTERS = {
  http_requests_total: "Requests by route and status.",
  database_statements_total: "Statements that this process ran.",
  jobs_assigned_total: "Jobs that were given to a runner.",
  jobs_released_total: "Jobs that were given to a runner which had gone, and put back at once.",
  offer_claims_total: "Claims of a daemon at the pod that owns the job, by outcome.",
  offer_news_total: "Jobs whose state a pod told its daemon.",
  offer_sessions_total: "Times that a pod told its daemon all that it offers.",
  jobs_reoffered_total: "Jobs whose runner did not confirm them in time, and that were put back.",
  jobs_ended_total: "Jobs that ended, by state.",
  attempts_superseded_total:
    "Calls of runners whose attempt at a job does not count any more; each of them was refused.",
  tokens_refused_total: "Tokens that were refused, by kind.",
  sweeps_total: "Looks for leases, timeouts and artifacts that are over.",
  trace_bytes_total: "Bytes of traces that were stored.",
  trace_resends_total: "Traces that arrived otherwise than their runner says, and were asked for again.",
  artifact_bytes_total: "Bytes of artifacts that were stored.",
} as const;
