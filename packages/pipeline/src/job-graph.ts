import type { PipelineJob } from "./pipeline-job.ts";

/** The part of a job that makes the graph. */
export type GraphJob = Pick<PipelineJob<unknown>, "id" | "needs">;

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
  const circle = findCircle(byId);
  return circle === undefined ? problems : [...problems, { kind: "circle", jobs: circle }];
}

// With a stack of its own, since a chain of jobs may be longer than that of the machine.
function findCircle(jobs: ReadonlyMap<string, GraphJob>): string[] | undefined {
  const done = new Set<string>();
  for (const start of jobs.keys()) {
    if (done.has(start)) continue;
    const stack = [{ id: start, next: 0 }];
    const onPath = new Set([start]);
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const need = jobs.get(top.id)?.needs[top.next++];
      if (need === undefined) {
        done.add(top.id);
        onPath.delete(top.id);
        stack.pop();
      } else if (onPath.has(need)) {
        const path = stack.map(({ id }) => id);
        return path.slice(path.indexOf(need));
      } else if (jobs.has(need) && !done.has(need)) {
        stack.push({ id: need, next: 0 });
        onPath.add(need);
      }
    }
  }
  return undefined;
}
