import { createHmac, randomBytes } from "node:crypto";
import { hashToken, mintRoutableToken } from "@steps/pod-tokens";
import type { Sql } from "../database/database.ts";
import type { Runner } from "./runner.ts";

/** Several machines share one token, and each of them reads the new one at a time of its own. */
const GRACE_SECONDS = 300;
/** The random bytes of a token. */
const RANDOM_BYTES = 16;

/** A new token, told this once, or to whoever asks with the old one while that still counts. */
export interface NewToken {
  readonly token: string;
  readonly expiresAt: Date | null;
}

/**
 * Gives a runner that asks with its token a new one with the lifetime of the old one, which counts for five minutes more. Machines
 * that share a token ask one after the other, and so does one whose answer was lost: with the old token all of them get the same new one,
 * since another would take the first one from those that have it. In a transaction.
 */
export async function resetToken(sql: Sql, pod: number, runner: Runner, old: string): Promise<NewToken> {
  const [row] = await sql.query<{ token_hash: string; reset_secret: string | null; token_expires_at: Date | null }>(
    "SELECT token_hash, reset_secret, token_expires_at FROM runners WHERE id = $1 FOR UPDATE",
    [runner.id],
  );
  if (row?.reset_secret != null) {
    const token = tokenAfter(old, row.reset_secret, pod, runner);
    if (hashToken(token) === row.token_hash) return { token, expiresAt: row.token_expires_at };
  }
  const secret = randomBytes(RANDOM_BYTES).toString("base64url");
  return await replaceToken(sql, runner, { token: tokenAfter(old, secret, pod, runner), secret });
}

/**
 * Gives a runner a new token because its owner wants one: the old one may be in wrong hands, and so counts no more. Requests with it
 * that wait get no job.
 */
export async function revokeToken(sql: Sql, pod: number, runner: Runner): Promise<NewToken> {
  const fresh = await replaceToken(sql, runner, { token: mint(pod, runner), secret: null });
  await sql.query(
    "UPDATE runners SET version = version + 1, old_token_hash = NULL, old_token_until = NULL WHERE id = $1",
    [runner.id],
  );
  return fresh;
}

/** The token that follows on another one: nobody can tell it who has only the one, or only the secret. */
function tokenAfter(old: string, secret: string, pod: number, runner: Runner): string {
  return mint(pod, runner, createHmac("sha256", secret).update(old).digest().subarray(0, RANDOM_BYTES));
}

function mint(pod: number, runner: Runner, random?: Uint8Array): string {
  const { group_id: group, project_ids: projects, kind: runnerKind } = runner;
  return mintRoutableToken({ routing: { pod, group: group ?? undefined, project: projects[0], runnerKind }, random });
}

async function replaceToken(
  sql: Sql,
  { id }: Runner,
  { token, secret }: { readonly token: string; readonly secret: string | null },
): Promise<NewToken> {
  const [row] = await sql.query<{ token_expires_at: Date | null }>(
    `UPDATE runners SET old_token_hash = token_hash, old_token_until = now() + interval '${GRACE_SECONDS} s', token_hash = $2,
       reset_secret = $3, token_obtained_at = now(), token_expires_at = now() + (token_expires_at - token_obtained_at)
     WHERE id = $1 RETURNING token_expires_at`,
    [id, hashToken(token), secret],
  );
  return { token, expiresAt: row?.token_expires_at ?? null };
}
