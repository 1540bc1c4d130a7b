import type { PlannedJob } from "./decide-jobs.ts";

/** The part of a job that says which others it waits for. */
type Waiting = Pick<PlannedJob, "name" | "stage_index" | "needs">;

/**
 * The jobs that wait for a job, at once or by way of others: those that need it or one of them, and those without `needs` whose stage
 * comes after its stage or after that of one of them. Each is looked at once, however long the ways are.
 */
export function jobsBehind<J extends Waiting>(job: Waiting, jobs: readonly J[]): ReadonlySet<J> {
  const needs = jobs.flatMap((one) => (one.needs ?? []).map((name) => ({ name, one })));
  const neededBy = Map.groupBy(needs, ({ name }) => name);
  // The last stage stands at the end.
  const byStage = jobs.filter((one) => one.needs === null).toSorted((a, b) => a.stage_index - b.stage_index);
  const found = new Set<J>();
  const due: Waiting[] = [job];
  const find = (one: J): void => {
    if (found.has(one)) return;
    found.add(one);
    due.push(one);
  };
  for (let next = due.pop(); next !== undefined; next = due.pop()) {
    for (const { one } of neededBy.get(next.name) ?? []) find(one);
    while ((byStage.at(-1)?.stage_index ?? -1) > next.stage_index) find(byStage.pop() as J);
  }
  return found;
}
