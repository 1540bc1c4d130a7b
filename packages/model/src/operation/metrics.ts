/** The value of `Content-Type` for the text format of Prometheus. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** The labels of a figure by their names. */
export type Labels = Readonly<Record<string, string | number>>;

/** Counts what happens in a process, for `/metrics`. Labels are few and from our own words, never what a client sends. */
export class Counters<Name extends string> {
  readonly #prefix: string;
  readonly #helps: Readonly<Record<Name, string>>;
  readonly #counts = new Map<Name, Map<string, number>>();

  /** `helps` has a sentence for each counter; `prefix` stands before their names: `pod` for `pod_jobs_ended_total`. */
  constructor(prefix: string, helps: Readonly<Record<Name, string>>) {
    this.#prefix = prefix;
    this.#helps = helps;
  }

  /** Adds to a counter. */
  add(name: Name, labels: Labels = {}, count = 1): void {
    const key = formatLabels(labels);
    const counts = this.#counts.get(name) ?? new Map<string, number>();
    counts.set(key, (counts.get(key) ?? 0) + count);
    this.#counts.set(name, counts);
  }

  /** The counters in the text format of Prometheus; one that has counted nothing yet is 0. */
  format(): string {
    return (Object.entries(this.#helps) as [Name, string][])
      .map(([name, help]) => {
        const rows = [...(this.#counts.get(name) ?? [["", 0] as const])];
        return family({ name: `${this.#prefix}_${name}`, help, type: "counter", rows });
      })
      .join("");
  }
}

/** A figure that goes up and down, in the text format of Prometheus, with a row for each set of labels. */
export function formatGauge(
  name: string,
  help: string,
  rows: readonly (readonly [labels: Labels, value: number])[],
): string {
  return family({ name, help, type: "gauge", rows: rows.map(([labels, value]) => [formatLabels(labels), value]) });
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly rows: readonly (readonly [labels: string, value: number])[];
}

function family({ name, help, type, rows }: Family): string {
  const lines = rows.map(([labels, value]) => `${name}${labels} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join("")}`;
}

function formatLabels(labels: Labels): string {
  let pairs = "";
  for (const [label, value] of Object.entries(labels))
    pairs += `${pairs === "" ? "" : ","}${label}="${escape(String(value))}"`;
  return pairs === "" ? "" : `{${pairs}}`;
}

function escape(text: string): string {
  // Each request is counted, and hardly any label has to be escaped.
  if (!/["\\\n]/.test(text)) return text;
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
