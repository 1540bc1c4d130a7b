import { type HttpAnswer, type HttpRequest, type Remote, request } from "@steps/transfer";
import { CacheError } from "../cache-error.ts";
import type { CacheContext } from "../context.ts";
import { accessHint, joined } from "../credentials/access-hint.ts";
import { basicAuthorization, credentialTarget, type CredentialTarget } from "../credentials/credential.ts";
import { findInNetrc } from "../credentials/netrc.ts";
import type { CredentialSearch, UserCredentials } from "../credentials/user-credentials.ts";

/** A question for an archive or a file. */
export interface DownloadRequest extends Pick<HttpRequest, "headers" | "signal"> {
  readonly remote: Remote;
  /** The word for it in messages. */
  readonly noun: string;
}

/**
 * Asks for what is at a URL. If its own server answers 401 over https, the question is repeated once with the credentials of the user's
 * `.netrc` (ADR 51); neither the target of a redirect nor a server that another one redirects to gets them.
 *
 * @throws {StepsError} AUTH_FAILED for 401 and 403, and the errors of the transport
 */
export async function requestPrivate(
  context: Pick<CacheContext, "env" | "userCredentials">,
  asked: DownloadRequest,
): Promise<HttpAnswer> {
  const { remote } = asked;
  const state = context.userCredentials;
  const key = `${remote.user ?? ""} ${remote.url}`;
  const accepted = state?.accepted.get(key);
  const first = await ask(asked, accepted?.authorization);
  const target = credentialTarget(remote);
  const isRefused = first.response.status === 401 && first.isOfRemote;
  if (state === undefined || target === undefined || accepted !== undefined || !isRefused)
    return await accept(asked, first, searchOf(state, first, { insufficient: accepted?.source }));
  const known = state.failed.get(key);
  if (known !== undefined) return await accept(asked, first, known);
  const found = find(target, context.env);
  if ("nothing" in found) return await accept(asked, first, searchOf(state, first, { nothing: [found.nothing] }));
  await first.response.body?.cancel();
  const second = await ask(asked, found.authorization);
  if (second.response.status !== 401 || !second.isOfRemote) {
    if (second.response.ok || second.response.status === 304) state.accepted.set(key, found);
    return await accept(asked, second, searchOf(state, second, { insufficient: found.source }));
  }
  const search = searchOf(state, second, { refused: [found.source] });
  if (search !== undefined) state.failed.set(key, search);
  return await accept(asked, second, search);
}

function ask({ remote, headers, signal }: DownloadRequest, authorization: string | undefined): Promise<HttpAnswer> {
  const asking = authorization === undefined ? remote : { ...remote, authorization };
  return request(asking, { url: remote.url, signal, ...(headers === undefined ? {} : { headers }) });
}

type Found = { readonly authorization: string; readonly source: string } | { readonly nothing: string };

function find(target: CredentialTarget, env: CacheContext["env"]): Found {
  const found = findInNetrc(target, env);
  if ("nothing" in found) return found;
  const authorization = basicAuthorization(found);
  return authorization === undefined
    ? { nothing: `${found.source} has a user or password that cannot be sent` }
    : { authorization, source: found.source };
}

function searchOf(
  state: UserCredentials | undefined,
  answer: HttpAnswer,
  come: Partial<Pick<CredentialSearch, "refused" | "insufficient" | "nothing">>,
): CredentialSearch | undefined {
  if (state === undefined) return undefined;
  const refusedBy = originOf401(answer);
  return { refused: [], insufficient: undefined, nothing: [], rewrite: undefined, refusedBy, ...come };
}

function originOf401({ url, response }: HttpAnswer): string | undefined {
  return response.status === 401 ? new URL(url).origin : undefined;
}

async function accept(
  { remote, noun }: DownloadRequest,
  answer: HttpAnswer,
  search: CredentialSearch | undefined,
): Promise<HttpAnswer> {
  const { status, body } = answer.response;
  if (status !== 401 && status !== 403) return answer;
  await body?.cancel();
  const problem =
    search === undefined || search.refused.length === 0
      ? `the server answered ${status}`
      : `the server did not take the credentials of ${search.refused.join(" and of ")}`;
  const asked = { noun, sources: ".netrc", hasHelpers: false };
  const hint = joined(accessHint(asked, remote, { search, refusedBy: originOf401(answer) }));
  throw new CacheError("AUTH_FAILED", `Cannot fetch "${remote.location}": ${problem}`, { hint });
}
