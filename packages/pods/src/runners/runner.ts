import { hashToken } from "@steps/pod-tokens";
import type { Sql } from "../database/database.ts";
import type { Capability, RunnerKind } from "../queue/capability.ts";

/** A runner as the pod keeps it: one configuration, used by one or more machines. */
export interface Runner {
  readonly id: number;
  readonly kind: RunnerKind;
  readonly group_id: number | null;
  readonly project_ids: readonly number[];
  readonly description: string;
  readonly tags: readonly string[];
  readonly run_untagged: boolean;
  readonly locked: boolean;
  readonly protected: boolean;
  readonly paused: boolean;
  readonly maximum_timeout_s: number | null;
  readonly token_expires_at: Date | null;
  readonly version: number;
}

/** The columns of a runner, from a table with the alias `r`. */
const RUNNER_COLUMNS = `r.id, r.kind, r.group_id, r.description, r.tags, r.run_untagged, r.locked, r.protected, r.paused,
  r.maximum_timeout_s, r.token_expires_at, r.version,
  ARRAY(SELECT p.project_id FROM runner_projects p WHERE p.runner_id = r.id ORDER BY p.project_id) AS project_ids`;

/** The runner that has this token, unless the token has expired. A token that was replaced counts for a few minutes more. */
export async function findRunner(sql: Sql, token: string): Promise<Runner | undefined> {
  const [runner] = await sql.query<Runner>(
    `SELECT ${RUNNER_COLUMNS} FROM runners r
     WHERE (r.token_hash = $1 AND (r.token_expires_at IS NULL OR r.token_expires_at > now()))
        OR (r.old_token_hash = $1 AND r.old_token_until > now())`,
    [hashToken(token)],
  );
  return runner;
}

/** The runner with this id. */
export async function runnerById(sql: Sql, id: number): Promise<Runner | undefined> {
  const [runner] = await sql.query<Runner>(`SELECT ${RUNNER_COLUMNS} FROM runners r WHERE r.id = $1`, [id]);
  return runner;
}

/** The end of a token as the API writes it; null: never. */
export function timeOf(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}

/** The capability of the runner, with the features that its program announces. */
export function capabilityOf(runner: Runner, features: Readonly<Record<string, boolean | undefined>>): Capability {
  return {
    kind: runner.kind,
    groupId: runner.group_id ?? undefined,
    projectIds: runner.project_ids,
    tags: runner.tags.toSorted(),
    runUntagged: runner.run_untagged,
    isProtected: runner.protected,
    features: Object.keys(features)
      .filter((name) => features[name] === true)
      .toSorted(),
  };
}
