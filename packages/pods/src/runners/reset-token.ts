import { hashToken, mintRoutableToken } from "@steps/pod-tokens";
import type { Sql } from "../database/database.ts";
import type { Runner } from "./runner.ts";

/** Several machines share one token, and each of them reads the new one at a time of its own. */
const GRACE_SECONDS = 300;

/** Gives a runner a new token with the lifetime of the old one, which counts for five minutes more. */
export async function resetToken(
  sql: Sql,
  pod: number,
  runner: Runner,
): Promise<{ readonly token: string; readonly expiresAt: Date | null }> {
  const token = mintRoutableToken({
    routing: { pod, group: runner.group_id ?? undefined, project: runner.project_ids[0], runnerKind: runner.kind },
  });
  const [row] = await sql.query<{ token_expires_at: Date | null }>(
    `UPDATE runners SET old_token_hash = token_hash, old_token_until = now() + make_interval(secs => $3), token_hash = $2,
       token_obtained_at = now(), token_expires_at = now() + (token_expires_at - token_obtained_at)
     WHERE id = $1 RETURNING token_expires_at`,
    [runner.id, hashToken(token), GRACE_SECONDS],
  );
  return { token, expiresAt: row?.token_expires_at ?? null };
}
