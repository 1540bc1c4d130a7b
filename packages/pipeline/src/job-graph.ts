import type { GraphJob } from "@steps/model/pipeline";

/** A reason why jobs make no graph that can be run. */
export type GraphProblem =
  | { readonly kind: "duplicate"; readonly job: string }
  | { readonly kind: "unknown-need"; readonly job: string; readonly need: string }
  /** Each job of the circle needs the next, and the last needs the first. */
  | { readonly kind: "circle"; readonly jobs: readonly string[] };

/** Everything that keeps a graph of jobs from being run; one circle of several. Its time grows with the number of needs. */
export function graphProblems(jobs: readonly GraphJob[]): GraphProblem[] {
  const byId = new Map<string, GraphJob>();
  const problems: GraphProblem[] = [];
  for (const job of jobs) {
    if (byId.has(job.id)) problems.push({ kind: "duplicate", job: job.id });
    byId.set(job.id, job);
  }
  for (const { id, needs } of jobs) {
    for (const need of needs) if (!byId.has(need)) problems.push({ kind: "unknown-need", job: id, need });
  }
  const [circle] = findCircles(byId);
  return circle === undefined ? problems : [...problems, { kind: "circle", jobs: circle }];
}

/**
 * Finds jobs that wait for themselves: in each circle a job needs the next, and the last needs the first. There is at least one for
 * every job that cannot start. Needs that are not among the jobs are passed over.
 */
export function* findCircles(jobs: ReadonlyMap<string, Pick<GraphJob, "needs">>): Generator<string[]> {
  const done = new Set<string>();
  for (const start of jobs.keys()) {
    // A list instead of recursion, since a chain of jobs may be longer than the stack of the machine.
    const way = done.has(start) ? [] : [{ id: start, next: 0 }];
    const onWay = new Set(way.map(({ id }) => id));
    for (let last = way.at(-1); last !== undefined; last = way.at(-1)) {
      const need = jobs.get(last.id)?.needs[last.next++];
      if (need === undefined) {
        done.add(last.id);
        onWay.delete(last.id);
        way.pop();
      } else if (onWay.has(need)) {
        yield way.slice(way.findIndex(({ id }) => id === need)).map(({ id }) => id);
      } else if (jobs.has(need) && !done.has(need)) {
        way.push({ id: need, next: 0 });
        onWay.add(need);
      }
    }
  }
}
