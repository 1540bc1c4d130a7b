import { formatGauge, type Labels } from "@steps/model/operation";
import { IS_IN_HAND } from "../jobs/accept-job.ts";
import type { Pod } from "../pod/pod.ts";

/** The state of the queue as Prometheus reads it: jobs by state, and for each set of tags how many wait and for how long. */
export async function formatGauges(pod: Pod): Promise<string> {
  const states = await pod.database.query<{ state: string; jobs: number }>(
    `SELECT state, count(*)::int AS jobs FROM jobs WHERE ${IS_IN_HAND} GROUP BY state
     UNION ALL SELECT 'pending', count(*)::int FROM pending_jobs`,
  );
  const queues = await pod.database.query<{ tags: readonly string[]; jobs: number; age: number }>(
    `SELECT l.tags, count(*)::int AS jobs, extract(epoch FROM now() - min(q.queued_at))::float8 AS age
     FROM pending_jobs q JOIN lanes l ON l.id = q.lane_id GROUP BY l.tags ORDER BY count(*) DESC LIMIT 200`,
  );
  return [
    formatGauge(
      "pod_jobs",
      "Jobs by state.",
      states.map(({ state, jobs }) => [{ state }, jobs]),
    ),
    formatGauge(
      "pod_queue_jobs",
      "Pending jobs by their tags.",
      queues.map(({ tags, jobs }) => [labelsOf(tags), jobs]),
    ),
    formatGauge(
      "pod_queue_age_seconds",
      "The time for which the oldest pending job has waited, by its tags.",
      queues.map(({ tags, age }) => [labelsOf(tags), Math.max(0, age)]),
    ),
    formatGauge("pod_held_requests", "Requests for jobs that this process holds.", [[{}, pod.queue.waiting]]),
  ].join("");
}

// A comma in a tag is not one between two, and Prometheus refuses a page that has the same labels twice.
function labelsOf(tags: readonly string[]): Labels {
  return { tags: tags.map((tag) => tag.replaceAll(/[\\,]/g, String.raw`\$&`)).join(",") };
}
