import type { Pod } from "../pod/pod.ts";

/** The state of the queue as Prometheus reads it: jobs by state, and for each set of tags how many wait and for how long. */
export async function formatGauges(pod: Pod): Promise<string> {
  const states = await pod.database.query<{ state: string; jobs: number }>(
    `SELECT state, count(*)::int AS jobs FROM jobs WHERE state IN ('assigned', 'running', 'canceling') GROUP BY state
     UNION ALL SELECT 'pending', count(*)::int FROM pending_jobs`,
  );
  const queues = await pod.database.query<{ tags: readonly string[]; jobs: number; age: number }>(
    `SELECT l.tags, count(*)::int AS jobs, extract(epoch FROM now() - min(q.queued_at))::float8 AS age
     FROM pending_jobs q JOIN lanes l ON l.id = q.lane_id GROUP BY l.tags ORDER BY count(*) DESC LIMIT 200`,
  );
  const labelOf = (tags: readonly string[]): string => `tags="${escape(tags.join(","))}"`;
  return [
    gauge(
      "jobs",
      "Jobs by state.",
      states.map(({ state, jobs }) => [`state="${state}"`, jobs]),
    ),
    gauge(
      "queue_jobs",
      "Pending jobs by their tags.",
      queues.map(({ tags, jobs }) => [labelOf(tags), jobs]),
    ),
    gauge(
      "queue_age_seconds",
      "The time for which the oldest pending job has waited, by its tags.",
      queues.map(({ tags, age }) => [labelOf(tags), Math.max(0, age)]),
    ),
    gauge("held_requests", "Requests for jobs that this process holds.", [["", pod.queue.waiting]]),
  ].join("");
}

function gauge(name: string, help: string, rows: readonly (readonly [labels: string, value: number])[]): string {
  const lines = rows.map(([labels, value]) => `pod_${name}${labels === "" ? "" : `{${labels}}`} ${value}\n`);
  return `# HELP pod_${name} ${help}\n# TYPE pod_${name} gauge\n${lines.join("")}`;
}

function escape(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
