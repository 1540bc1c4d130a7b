import type { Remote } from "@steps/transfer";
import type { CredentialSearch } from "./user-credentials.ts";

/** What a server was asked for, in the words of messages. */
export interface Asked {
  readonly noun: string;
  /** The places that the user's credentials for it are taken from. */
  readonly sources: string;
  /** Whether helpers of git are among them. */
  readonly hasHelpers: boolean;
}

interface Refusal {
  /** Absent where the user's credentials are not used. */
  readonly search: CredentialSearch | undefined;
  /** The origin that answered 401, if the search does not know it. */
  readonly refusedBy?: string | undefined;
}

/** Says what can be done about an answer that wants credentials, or other ones. */
export function accessHint(asked: Asked, remote: Remote, { search, refusedBy }: Refusal): readonly string[] {
  const { url, scheme, authorization, user } = remote;
  const { noun } = asked;
  const isHttp = scheme === "https" || scheme === "http";
  if (!isHttp || (authorization !== undefined && user === undefined))
    return [`Check the credentials and that the ${noun} exists: servers answer alike for both.`];
  const { host, origin } = new URL(url);
  const other = search?.refusedBy ?? refusedBy;
  if (other !== undefined && other !== origin)
    return [`${origin} redirects to ${other}, which gets no credentials: name the ${noun} by its address there.`];
  if (search?.insufficient !== undefined) return insufficiency(search);
  const mirror = `STEP_RUNNER_MIRROR=${scheme}://${host}/=${scheme}://USER:TOKEN@${host}/`;
  return [
    ...(search?.nothing ?? []).map(sentence),
    ...whatToDo(asked, remote, { search, mirror }),
    `Servers answer so, too, where ${anyNoun(noun)} does not exist.`,
  ];
}

/** Says whose credentials were sent to a server that did not do for them what it was asked. */
export function insufficiency(search: CredentialSearch | undefined): readonly string[] {
  if (search?.insufficient === undefined) return [];
  return [`The credentials of ${search.insufficient} were sent. Perhaps they are for a user who may not read it.`];
}

function whatToDo(
  { sources, hasHelpers }: Asked,
  { scheme }: Remote,
  { search, mirror }: { readonly search: CredentialSearch | undefined; readonly mirror: string },
): readonly string[] {
  const given = `Give credentials in the reference, or for the whole server by ${mirror}.`;
  if (scheme === "http") return [`Those of ${sources} are not sent without TLS.`, given];
  if (search === undefined) return [`Those of ${sources} are used with STEP_RUNNER_GIT_CREDENTIALS=user.`, given];
  if (search.refused.length > 0) return [`Correct those of ${search.refused.join(" or ")}, or set ${mirror}.`];
  const helper = hasHelpers ? "Give the credentials to a helper of git, write them" : "Write the credentials";
  return [`${helper} to ~/.netrc${hasHelpers ? "," : ""} or set ${mirror}.`];
}

function anyNoun(noun: string): string {
  return `${/^[aeiou]/.test(noun) ? "an" : "a"} ${noun}`;
}

/** One hint of some sentences; `undefined` for none. */
export function joined(sentences: readonly string[]): string | undefined {
  return sentences.length === 0 ? undefined : sentences.join(" ");
}

/** A clause as a sentence. */
export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
