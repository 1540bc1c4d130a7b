/** Counts what happens in this process, for `/metrics`. */
export class Metrics {
  readonly #counts = new Map<string, Map<string, number>>();

  /** Adds to a counter; labels are few and from our own words, never what a client sends. */
  add(name: CounterName, labels: Readonly<Record<string, string>> = {}, count = 1): void {
    const key = Object.entries(labels)
      .map(([label, value]) => `${label}="${value}"`)
      .join(",");
    const counts = this.#counts.get(name) ?? new Map<string, number>();
    counts.set(key, (counts.get(key) ?? 0) + count);
    this.#counts.set(name, counts);
  }

  /** The counters as Prometheus reads them. */
  format(): string {
    return Object.entries(COUNTERS)
      .map(([name, help]) => {
        const rows = [...(this.#counts.get(name) ?? [["", 0] as const])];
        const lines = rows.map(([labels, value]) => `pod_${name}${labels === "" ? "" : `{${labels}}`} ${value}`);
        return `# HELP pod_${name} ${help}\n# TYPE pod_${name} counter\n${lines.join("\n")}\n`;
      })
      .join("");
  }
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
  trace_bytes_total: "Bytes of traces that were stored.",
  trace_resends_total: "Traces that arrived otherwise than their runner says, and were asked for again.",
  artifact_bytes_total: "Bytes of artifacts that were stored.",
} as const;

type CounterName = keyof typeof COUNTERS;
