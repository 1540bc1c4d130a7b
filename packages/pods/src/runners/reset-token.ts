import { hashToken, mintRoutableToken } from "@steps/pod-tokens";
import type { Sql } from "../database/database.ts";
import type { Runner } from "./runner.ts";

/** Several machines share one token, and each of them reads the new one at a time of its own. */
const GRACE_SECONDS = 300;

/** A new token, told this once. */
export interface NewToken {
  readonly token: string;
  readonly expiresAt: Date | null;
}

/** Gives a runner that asks for it a new token with the lifetime of the old one, which counts for five minutes more. */
export async function resetToken(sql: Sql, pod: number, runner: Runner): Promise<NewToken> {
  return await replaceToken(sql, pod, runner, GRACE_SECONDS);
}

/**
 * Gives a runner a new token because its owner wants one: the old one may be in wrong hands, and so counts no more. Requests with it
 * that wait get no job.
 */
export async function revokeToken(sql: Sql, pod: number, runner: Runner): Promise<NewToken> {
  const fresh = await replaceToken(sql, pod, runner, 0);
  await sql.query(
    "UPDATE runners SET version = version + 1, old_token_hash = NULL, old_token_until = NULL WHERE id = $1",
    [runner.id],
  );
  return fresh;
}

async function replaceToken(sql: Sql, pod: number, runner: Runner, graceSeconds: number): Promise<NewToken> {
  const token = mintRoutableToken({
    routing: { pod, group: runner.group_id ?? undefined, project: runner.project_ids[0], runnerKind: runner.kind },
  });
  const [row] = await sql.query<{ token_expires_at: Date | null }>(
    `UPDATE runners SET old_token_hash = token_hash, old_token_until = now() + make_interval(secs => $3), token_hash = $2,
       token_obtained_at = now(), token_expires_at = now() + (token_expires_at - token_obtained_at)
     WHERE id = $1 RETURNING token_expires_at`,
    [runner.id, hashToken(token), graceSeconds],
  );
  return { token, expiresAt: row?.token_expires_at ?? null };
}
