import type { GraphJob } from "@steps/model/pipeline";

/** A job of a pipeline that runs, in the order of its file or of its stages. */
export interface OrderedJob extends GraphJob {
  /** Absent in a language without stages. */
  readonly stage?: string | undefined;
}

/** The ids of jobs, each behind those that it needs and otherwise in their order. */
export function inOrder(jobs: readonly OrderedJob[]): readonly string[] {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const seen = new Set<string>();
  const ordered: string[] = [];
  for (const { id: start } of jobs) {
    // Needs may be as deep as there are jobs, which is too deep for calls.
    const stack: { readonly id: string; readonly isReady: boolean }[] = [{ id: start, isReady: false }];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      const { id, isReady } = next;
      if (isReady) ordered.push(id);
      if (isReady || seen.has(id)) continue;
      seen.add(id);
      stack.push({ id, isReady: true });
      for (const need of (byId.get(id)?.needs ?? []).toReversed())
        if (byId.has(need)) stack.push({ id: need, isReady: false });
    }
  }
  return ordered;
}

/** The places of rows in a table: a number for each pipeline around a row, one for its job, and one for its instance. */
export class RowOrder {
  readonly #places = new Map<string, readonly number[]>();
  readonly #stages = new Map<string, string>();

  /** @param path the names of the calling jobs, each with ` / ` behind it; empty for the outermost pipeline */
  planned(jobs: readonly OrderedJob[], path: string, separator: string): void {
    const around = this.#places.get(path.slice(0, -separator.length)) ?? [];
    for (const [index, id] of inOrder(jobs).entries()) this.#places.set(path + id, [...around, index]);
    for (const { id, stage } of jobs) if (stage !== undefined) this.#stages.set(path + id, stage);
  }

  /** The instances of a job, in their order. */
  decided(job: string, instances: readonly string[]): void {
    const place = this.#places.get(job);
    if (place === undefined) return;
    for (const [index, instance] of instances.entries()) {
      if (instance !== job) this.#places.set(instance, [...place, index]);
    }
  }

  /** The stage of a job; absent in a language without stages. */
  stageOf(job: string): string | undefined {
    return this.#stages.get(job);
  }

  /** Rows in the order of their jobs; those of jobs that were not planned last, as they came. */
  sorted<Row extends { readonly job: string }>(rows: readonly Row[]): readonly Row[] {
    return rows.toSorted((a, b) => compare(this.#places.get(a.job), this.#places.get(b.job)));
  }
}

function compare(a: readonly number[] | undefined, b: readonly number[] | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  for (let at = 0; at < Math.min(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
