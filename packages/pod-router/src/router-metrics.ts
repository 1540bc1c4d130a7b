import { Counters, formatGauge } from "@steps/model/operation";
import type { Evidence } from "./routing/decide-route.ts";

/** Counts what a router did since it started. */
export class RouterMetrics {
  readonly #counters = new Counters("pod_router", {
    requests_total: "Requests that went to a pod, by what told the pod.",
    responses_total: "Answers of pods by their status; cut when there was none.",
    refusals_total: "Requests that the router answered itself, by status.",
  });

  /** A request went to a pod. */
  routed(pod: number, by: Evidence): void {
    this.#counters.add("requests_total", { pod, by });
  }

  /** A request of a pod ended with a status, or with none because the client left or was cut off. */
  ended(pod: number, status: number | undefined): void {
    this.#counters.add("responses_total", { pod, status: status ?? "cut" });
  }

  /** The router answered itself. */
  refused(status: number): void {
    this.#counters.add("refusals_total", { status });
  }

  /** The counts in the text format of Prometheus, with the requests that are under way. */
  format(active: ReadonlyMap<number, number>): string {
    const rows = Array.from(active, ([pod, count]) => [{ pod }, count] as const);
    return this.#counters.format() + formatGauge("pod_router_active", "Requests that are under way.", rows);
  }
}
