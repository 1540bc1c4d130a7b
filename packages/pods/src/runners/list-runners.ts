import type { Sql } from "../database/database.ts";

/** A runner as the admin API shows it. */
export interface RunnerView {
  readonly id: number;
  readonly kind: "instance" | "group" | "project";
  readonly group: string | null;
  readonly projects: readonly string[];
  readonly description: string;
  readonly tags: readonly string[];
  readonly run_untagged: boolean;
  readonly locked: boolean;
  readonly protected: boolean;
  readonly paused: boolean;
  readonly maximum_timeout: number | null;
  readonly token_expires_at: Date | null;
  readonly created_at: Date;
  /** Whether one of its machines was heard of in the last two hours. */
  readonly online: boolean;
  readonly running: number;
  readonly managers: readonly {
    readonly system_id: string;
    readonly version: string | null;
    readonly executor: string | null;
    readonly contacted_at: string;
  }[];
}

/** Lists all runners, or one. */
export async function listRunners(sql: Sql, id?: number): Promise<RunnerView[]> {
  return await sql.query<RunnerView>(
    `SELECT r.id, (ARRAY['instance', 'group', 'project'])[r.kind] AS kind, g.path AS "group",
       ARRAY(SELECT p.path FROM runner_projects l JOIN projects p ON p.id = l.project_id WHERE l.runner_id = r.id ORDER BY p.path)
         AS projects,
       r.description, r.tags, r.run_untagged, r.locked, r.protected, r.paused, r.maximum_timeout_s AS maximum_timeout,
       r.token_expires_at, r.created_at,
       EXISTS (SELECT FROM managers m WHERE m.runner_id = r.id AND m.contacted_at > now() - interval '2 hours') AS online,
       (SELECT count(*) FROM active_jobs a WHERE a.runner_id = r.id)::int AS running,
       coalesce((SELECT jsonb_agg(jsonb_build_object('system_id', m.system_id, 'version', m.info ->> 'version',
         'executor', m.info ->> 'executor', 'contacted_at', m.contacted_at) ORDER BY m.id)
         FROM managers m WHERE m.runner_id = r.id), '[]') AS managers
     FROM runners r LEFT JOIN groups g ON g.id = r.group_id
     WHERE $1::bigint IS NULL OR r.id = $1 ORDER BY r.id LIMIT 10000`,
    [id ?? null],
  );
}
