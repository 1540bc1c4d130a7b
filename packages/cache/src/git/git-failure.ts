import type { Remote } from "@steps/transfer";
import { CacheError } from "../cache-error.ts";
import type { CredentialSearch } from "../credentials/user-credentials.ts";

const ACCESS =
  /could not read (?:username|password)|authentication failed|returned error: 40[13]|permission denied|access denied|terminal prompts disabled|http error: 40[13]|host key verification failed/i;
const NO_REPOSITORY =
  /repository .* not found|not found: did you run|returned error: 4(?:04|10)|http error: 4(?:04|10)|does not appear to be a git repository|no such file or directory|not a git repository|project you were looking for could not be found/i;
const NO_SUCH_OBJECT =
  /not our ref|unadvertised object|couldn't find remote ref|could not find|does not allow request|no such remote ref|unreachable/i;

/** Turns what git wrote to its error stream, or isomorphic-git threw, into an error of ours. */
export function gitFailure(
  remote: Remote,
  text: string,
  { cause, search }: { readonly cause?: unknown; readonly search?: CredentialSearch | undefined } = {},
): CacheError {
  const said = lastWords(text);
  const message = (problem: string): string => `Cannot fetch from "${remote.location}": ${problem}`;
  const rewrite = search?.rewrite === undefined ? [] : [sentence(search.rewrite)];
  const options = { cause, hint: hintOf(rewrite) };
  if (ACCESS.test(text)) {
    const hint = hintOf([...accessHint(remote, text, search), ...rewrite]);
    return new CacheError("AUTH_FAILED", message(`access was denied: ${denial(text, said, search)}`), { cause, hint });
  }
  if (/\bfsck\b|hasDot|hasDotdot|fullPathname/.test(text)) {
    return new CacheError("UNSAFE_ENTRY", message(`git refused its objects: ${said}`), options);
  }
  if (/dubious ownership/.test(text)) {
    return new CacheError("TRANSPORT", message("the repository belongs to another user"), options);
  }
  if (NO_REPOSITORY.test(text)) {
    const hint = hintOf([...insufficiency(search), ...rewrite]);
    return new CacheError("REPOSITORY_NOT_FOUND", message(said), { cause, hint });
  }
  return new CacheError("TRANSPORT", message(said), options);
}

/** The origin of the server that answered 401, as git names it. */
export function refusingOrigin(text: string): string | undefined {
  const url = /(?:could not read (?:Username|Password)|Authentication failed) for '([^']+)'/.exec(text)?.[1];
  return url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined;
}

function denial(text: string, said: string, search: CredentialSearch | undefined): string {
  const refused = search?.refused ?? [];
  if (refused.length > 0) return `the server did not take the credentials of ${refused.join(" and of ")}`;
  return /could not read username/i.test(text) ? "the server wants credentials" : said;
}

function accessHint(remote: Remote, text: string, search: CredentialSearch | undefined): readonly string[] {
  const { url, scheme, authorization, user } = remote;
  const isHttp = scheme === "https" || scheme === "http";
  if (!isHttp || (authorization !== undefined && user === undefined))
    return ["Check the credentials and that the repository exists: servers answer alike for both."];
  const { host, origin } = new URL(url);
  const other = search?.refusedBy ?? refusingOrigin(text);
  if (other !== undefined && other !== origin)
    return [`${origin} redirects to ${other}, which gets no credentials: name the repository by its address there.`];
  if (search?.insufficient !== undefined) return insufficiency(search);
  const mirror = `STEP_RUNNER_MIRROR=${scheme}://${host}/=${scheme}://USER:TOKEN@${host}/`;
  return [
    ...(search?.nothing ?? []).map(sentence),
    ...whatToDo(remote, search, mirror),
    "Servers answer so, too, where a repository does not exist.",
  ];
}

function insufficiency(search: CredentialSearch | undefined): readonly string[] {
  if (search?.insufficient === undefined) return [];
  return [`The credentials of ${search.insufficient} were sent. Perhaps they are for a user who may not read it.`];
}

function whatToDo({ scheme }: Remote, search: CredentialSearch | undefined, mirror: string): readonly string[] {
  const given = `Give credentials in the reference, or for the whole server by ${mirror}.`;
  if (scheme === "http") return ["Those of .netrc and of git's credential helpers are not sent without TLS.", given];
  if (search === undefined)
    return ["Those of .netrc and of git's credential helpers are used with STEP_RUNNER_GIT_CREDENTIALS=user.", given];
  if (search.refused.length > 0) return [`Correct those of ${search.refused.join(" or ")}, or set ${mirror}.`];
  return [`Give the credentials to a helper of git, write them to ~/.netrc, or set ${mirror}.`];
}

function hintOf(sentences: readonly string[]): string | undefined {
  return sentences.length === 0 ? undefined : sentences.join(" ");
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Whether a server refused one commit, so that another way to it is worth trying. */
export function isRefusedCommit(text: string): boolean {
  return NO_SUCH_OBJECT.test(text);
}

/**
 * Returns the last lines of a server's answer. A stranger wrote them, so they have no control characters and are
 * neither many nor long.
 */
function lastWords(text: string): string {
  const lines = text
    .replaceAll(/\u001b\[[0-9;]*[a-zA-Z]/g, "")
    .split(/[\r\n]+/)
    .map((line) => line.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, " ").trim())
    .filter(
      (line) =>
        line !== "" &&
        !/^(?:Receiving|Resolving|Counting|Compressing|remote: (?:Counting|Compressing|Enumerating|Total))/.test(line),
    );
  const telling =
    lines.find((line) => /^(?:fatal|error|remote: error|ERROR)/.test(line)) ?? lines.at(-1) ?? "git failed";
  return telling.replace(/^(?:fatal|error): /, "").slice(0, 300);
}
