import type { Evidence } from "./routing/decide-route.ts";

/** Counts what a router did since it started. */
export class RouterMetrics {
  readonly #counts = new Map<string, number>();

  /** A request went to a pod. */
  routed(pod: number, by: Evidence): void {
    this.#add(`pod_router_requests_total{pod="${pod}",by="${by}"}`);
  }

  /** A request of a pod ended with a status, or with none because the client left or was cut off. */
  ended(pod: number, status: number | undefined): void {
    this.#add(`pod_router_responses_total{pod="${pod}",status="${status ?? "cut"}"}`);
  }

  /** The router answered itself. */
  refused(status: number): void {
    this.#add(`pod_router_refusals_total{status="${status}"}`);
  }

  /** The counts in the text format of Prometheus, with the requests that are under way. */
  format(active: ReadonlyMap<number, number>): string {
    const kinds = ["requests", "responses", "refusals"].map((kind) => `# TYPE pod_router_${kind}_total counter\n`);
    const lines = Array.from(this.#counts, ([name, count]) => `${name} ${count}\n`).toSorted();
    const gauges = Array.from(active, ([pod, count]) => `pod_router_active{pod="${pod}"} ${count}\n`);
    return [...kinds, ...lines, "# TYPE pod_router_active gauge\n", ...gauges].join("");
  }

  #add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }
}
