import { hashToken, mintRoutableToken } from "@steps/pod-tokens";
import type { Sql } from "../database/database.ts";
import type { RunnerKind } from "../queue/capability.ts";
import { ensureGroup, ensureProject } from "../projects/ensure-project.ts";

/** The settings of a new runner. A runner of projects takes their jobs alone, one of a group those of its projects. */
export interface RunnerSettings {
  /** Paths of projects, which are made if there are none. */
  readonly projects?: readonly string[] | undefined;
  /** The path of a group. */
  readonly group?: string | undefined;
  readonly description?: string | undefined;
  readonly maintenanceNote?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Takes jobs without tags. Default: only if the runner has no tags itself. */
  readonly runUntagged?: boolean | undefined;
  /** Stays with its projects: no other can be added. */
  readonly isLocked?: boolean | undefined;
  /** Takes the jobs of protected refs alone. */
  readonly isProtected?: boolean | undefined;
  readonly isPaused?: boolean | undefined;
  /** Seconds. */
  readonly maximumTimeout?: number | undefined;
  /** The time in seconds after which its token expires. Default: never. */
  readonly tokenLifetime?: number | undefined;
}

/** A runner and its token, which is told this once. */
export interface CreatedRunner {
  readonly id: number;
  readonly token: string;
  readonly expiresAt: Date | null;
}

/** Creates a runner; its token says to which pod it belongs. The prefix tells how it came about: `glrt-` created, `glrtr-` registered. */
export async function createRunner(
  sql: Sql,
  pod: number,
  settings: RunnerSettings,
  prefix: "glrt-" | "glrtr-" = "glrt-",
): Promise<CreatedRunner> {
  const { projects = [], group, tags = [] } = settings;
  const kind: RunnerKind = projects.length > 0 ? 3 : group === undefined ? 1 : 2;
  const projectIds: number[] = [];
  for (const path of projects) projectIds.push((await ensureProject(sql, path)).id);
  const groupId = group === undefined || kind === 3 ? undefined : await ensureGroup(sql, group);
  const routing = { pod, group: groupId, project: projectIds[0], runnerKind: kind };
  const token = mintRoutableToken({ prefix, routing });
  const [row] = await sql.query<{ id: number; token_expires_at: Date | null }>(
    `INSERT INTO runners (id, kind, group_id, description, maintenance_note, tags, run_untagged, locked, protected, paused,
       maximum_timeout_s, token_hash, token_expires_at)
     VALUES (nextval('runner_ids'), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now() + make_interval(secs => $12))
     RETURNING id, token_expires_at`,
    [
      kind,
      groupId ?? null,
      settings.description ?? "",
      settings.maintenanceNote ?? "",
      [...new Set(tags)].toSorted(),
      settings.runUntagged ?? tags.length === 0,
      settings.isLocked ?? false,
      settings.isProtected ?? false,
      settings.isPaused ?? false,
      settings.maximumTimeout ?? null,
      hashToken(token),
      settings.tokenLifetime ?? null,
    ],
  );
  const { id, token_expires_at: expiresAt } = row as NonNullable<typeof row>;
  for (const project of new Set(projectIds))
    await sql.query("INSERT INTO runner_projects (runner_id, project_id) VALUES ($1, $2)", [id, project]);
  return { id, token, expiresAt };
}
