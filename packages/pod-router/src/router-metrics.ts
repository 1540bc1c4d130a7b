import { Counters, formatGauge } from "@steps/model/operation";
import type { Evidence } from "./routing/decide-route.ts";

/** Counts what a router did since it started. */
export class RouterMetrics {
  readonly #counters = new Counters("pod_router", {
    requests_total: "Requests that went to a pod, by what told the pod.",
    responses_total: "Answers of pods by their status; cut when there was none, or not all of it arrived.",
    refusals_total: "Requests that the router answered itself, by status.",
    connections_refused_total: "Connections that were too many: of all clients, or of one.",
  });

  /** A request went to a pod. */
  routed(pod: number, by: Evidence): void {
    this.#counters.add("requests_total", { pod, by });
  }

  /** A request of a pod ended with a status, or with none because the client left or the pod gave no whole answer. */
  ended(pod: number, status: number | undefined): void {
    this.#counters.add("responses_total", { pod, status: status ?? "cut" });
  }

  /** The router answered itself. */
  refused(status: number): void {
    this.#counters.add("refusals_total", { status });
  }

  /** A connection was refused. */
  connectionRefused(limit: "all" | "client"): void {
    this.#counters.add("connections_refused_total", { limit });
  }

  /** The counts in the text format of Prometheus, with the requests of each pod and the connections that there are now. */
  format({
    active,
    connections,
  }: {
    readonly active: ReadonlyMap<number, number>;
    readonly connections: number;
  }): string {
    const rows = Array.from(active, ([pod, count]) => [{ pod }, count] as const);
    return (
      this.#counters.format() +
      formatGauge("pod_router_active", "Requests that are under way.", rows) +
      formatGauge("pod_router_connections", "Connections of clients.", [[{}, connections]])
    );
  }
}
