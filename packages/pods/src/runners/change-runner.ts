import type { Sql } from "../database/database.ts";
import { ensureProject } from "../projects/ensure-project.ts";

/** The settings of a runner that can be changed. */
export interface RunnerChange {
  readonly paused?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly run_untagged?: boolean | undefined;
  readonly locked?: boolean | undefined;
  readonly protected?: boolean | undefined;
  readonly description?: string | undefined;
  /** Seconds; null for no limit. */
  readonly maximum_timeout?: number | null | undefined;
  /** The path of a project whose jobs it takes besides; for unlocked runners of projects. */
  readonly add_project?: string | undefined;
}

/** Changes a runner: from now on it gets jobs by the new settings alone. Gives what happened. */
export async function changeRunner(
  sql: Sql,
  id: number,
  change: RunnerChange,
): Promise<"changed" | "unknown" | "locked" | "kind"> {
  const [row] = await sql.query<{ kind: number; locked: boolean }>(
    "SELECT kind, locked FROM runners WHERE id = $1 FOR UPDATE",
    [id],
  );
  if (row === undefined) return "unknown";
  if (change.add_project !== undefined) {
    if (row.kind !== 3) return "kind";
    if (row.locked) return "locked";
    const project = await ensureProject(sql, change.add_project);
    await sql.query("INSERT INTO runner_projects (runner_id, project_id) VALUES ($1, $2) ON CONFLICT DO NOTHING", [
      id,
      project.id,
    ]);
  }
  await sql.query(
    `UPDATE runners SET version = version + 1, paused = coalesce($2, paused), tags = coalesce($3::text[], tags),
       run_untagged = coalesce($4, run_untagged), locked = coalesce($5, locked), protected = coalesce($6, protected),
       description = coalesce($7, description),
       maximum_timeout_s = CASE WHEN $8::boolean THEN $9::int ELSE maximum_timeout_s END
     WHERE id = $1`,
    [
      id,
      change.paused ?? null,
      change.tags === undefined ? null : [...new Set(change.tags)].toSorted(),
      change.run_untagged ?? null,
      change.locked ?? null,
      change.protected ?? null,
      change.description ?? null,
      change.maximum_timeout !== undefined,
      change.maximum_timeout ?? null,
    ],
  );
  return "changed";
}
