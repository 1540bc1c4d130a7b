import type { Remote } from "@steps/transfer";
import { CacheError } from "../cache-error.ts";
import { accessHint, type Asked, insufficiency, joined, sentence } from "../credentials/access-hint.ts";
import type { CredentialSearch } from "../credentials/user-credentials.ts";

const ACCESS =
  /could not read (?:username|password)|authentication failed|returned error: 40[13]|permission denied|access denied|terminal prompts disabled|http error: 40[13]|host key verification failed/i;
const NO_REPOSITORY =
  /repository .* not found|not found: did you run|returned error: 4(?:04|10)|http error: 4(?:04|10)|does not appear to be a git repository|no such file or directory|not a git repository|project you were looking for could not be found/i;
const REPOSITORY: Asked = { noun: "repository", sources: ".netrc and of git's credential helpers", hasHelpers: true };
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
  const options = { cause, hint: joined(rewrite) };
  if (ACCESS.test(text)) {
    const hint = joined([...accessHint(REPOSITORY, remote, { search, refusedBy: refusingOrigin(text) }), ...rewrite]);
    return new CacheError("AUTH_FAILED", message(`access was denied: ${denial(text, said, search)}`), { cause, hint });
  }
  if (/\bfsck\b|hasDot|hasDotdot|fullPathname/.test(text)) {
    return new CacheError("UNSAFE_ENTRY", message(`git refused its objects: ${said}`), options);
  }
  if (/dubious ownership/.test(text)) {
    return new CacheError("TRANSPORT", message("the repository belongs to another user"), options);
  }
  if (NO_REPOSITORY.test(text)) {
    const hint = joined([...insufficiency(search), ...rewrite]);
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
