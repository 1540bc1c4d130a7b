import type { GraphJob } from "@steps/model/pipeline";

/** The jobs that are wanted and all that they need, directly or through others, in the order of the list. */
export function withNeeds<Job extends GraphJob>(jobs: readonly Job[], isWanted: (job: Job) => boolean): readonly Job[] {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const open = jobs.filter(isWanted);
  const chosen = new Set(open);
  for (const { needs } of open) {
    for (const id of needs) {
      const need = byId.get(id);
      if (need === undefined || chosen.has(need)) continue;
      chosen.add(need);
      // The list grows while it is walked.
      open.push(need);
    }
  }
  return jobs.filter((job) => chosen.has(job));
}
