import { throwIfCancelled, type Remote } from "@steps/transfer";
import type { CacheContext } from "../context.ts";
import { basicAuthorization, credentialTarget, type CredentialTarget } from "../credentials/credential.ts";
import { askHelpers, type CredentialProgram, tellHelpers } from "../credentials/git-credential.ts";
import { readGitSettings, rewriteHint } from "../credentials/git-settings.ts";
import { findInNetrc } from "../credentials/netrc.ts";
import type { CredentialSearch } from "../credentials/user-credentials.ts";
import { findGit } from "./git-process.ts";

/** How one question to a server ended. */
export interface Attempt<T> {
  readonly value: T;
  readonly hasFailed: boolean;
  /** The origin that wants credentials, or did not take those that it got: its answer was 401. */
  readonly refusedBy?: string | undefined;
}

type Context = Pick<CacheContext, "env" | "userCredentials">;

/**
 * Asks a server. If it answers 401, the question is repeated with the credentials of the user's `.netrc`, then with those of the
 * credential helpers of git, as git itself would do (ADR 51). Only the server that is named gets them, never the target of a redirect,
 * and only over https. A helper hears whether they were right.
 */
export async function withUserCredentials<T>(
  context: Context,
  remote: Remote,
  options: { readonly signal?: AbortSignal | undefined; readonly attempt: (remote: Remote) => Promise<Attempt<T>> },
): Promise<{ readonly value: T; readonly search?: CredentialSearch }> {
  const { attempt, signal } = options;
  const state = context.userCredentials;
  if (state === undefined) return await attempt(remote);
  const target = credentialTarget(remote);
  const key = `${remote.user ?? ""} ${remote.url}`;
  const accepted = target === undefined ? undefined : state.accepted.get(key);
  const first = await attempt({ ...remote, authorization: accepted?.authorization ?? remote.authorization });
  if (!first.hasFailed) return first;
  const program = findGit(context.env);
  const helpers = program === undefined ? undefined : { program, env: context.env, signal };
  let found: Found<T> = { last: first, sent: accepted, refused: [], nothing: [] };
  if (target !== undefined && isRefusedByItself(remote, first)) {
    const known = state.failed.get(key);
    if (known !== undefined) return { value: first.value, search: known };
    found = await trySources({ remote, target, helpers, attempt, netrc: context.env, first });
    throwIfCancelled(signal);
  }
  const { last, sent, refused, nothing } = found;
  if (!last.hasFailed) {
    if (sent !== undefined) state.accepted.set(key, sent);
    return last;
  }
  const rewrite =
    program === undefined ? undefined : rewriteHint(remote.url, await readGitSettings(program, context.env));
  const isRefused = isRefusedByItself(remote, last);
  const insufficient = isRefused ? undefined : sent?.source;
  const search = { refused, insufficient, nothing, rewrite, refusedBy: last.refusedBy };
  if (isRefused) state.failed.set(key, search);
  return { value: last.value, search };
}

interface Found<T> {
  /** The last attempt; all before it were refused. */
  readonly last: Attempt<T>;
  /** The credentials of the last attempt. */
  readonly sent: { readonly authorization: string; readonly source: string } | undefined;
  readonly refused: readonly string[];
  readonly nothing: readonly string[];
}

interface Search<T> {
  readonly remote: Remote;
  readonly target: CredentialTarget;
  readonly helpers: CredentialProgram | undefined;
  readonly netrc: CacheContext["env"];
  readonly attempt: (remote: Remote) => Promise<Attempt<T>>;
  readonly first: Attempt<T>;
}

async function trySources<T>(search: Search<T>): Promise<Found<T>> {
  const { remote, target, helpers, attempt } = search;
  const refused: string[] = [];
  const nothing: string[] = [];
  let last = search.first;
  const sources = [
    () => findInNetrc(target, search.netrc),
    () =>
      helpers === undefined
        ? { nothing: "there is no git whose credential helpers could be asked" }
        : askHelpers(target, helpers),
  ];
  for (const source of sources) {
    const answer = await source();
    throwIfCancelled(helpers?.signal);
    const authorization = "nothing" in answer ? undefined : basicAuthorization(answer);
    if ("nothing" in answer) nothing.push(answer.nothing);
    else if (authorization === undefined) nothing.push(`${answer.source} has a user or password that cannot be sent`);
    if ("nothing" in answer || authorization === undefined) continue;
    last = await attempt({ ...remote, authorization });
    const isRefused = isRefusedByItself(remote, last);
    // A failure of another kind says nothing about the password.
    const verdict = last.hasFailed ? (isRefused ? "reject" : undefined) : "approve";
    if ("lines" in answer && helpers !== undefined && verdict !== undefined)
      await tellHelpers(verdict, answer, helpers);
    if (!isRefused) return { last, sent: { authorization, source: answer.source }, refused, nothing };
    refused.push(answer.source);
  }
  return { last, sent: undefined, refused, nothing };
}

function isRefusedByItself({ url }: Remote, { hasFailed, refusedBy }: Attempt<unknown>): boolean {
  return hasFailed && refusedBy !== undefined && refusedBy === new URL(url).origin;
}
