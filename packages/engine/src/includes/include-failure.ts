import { isStepsError, messageOf } from "@steps/model";
import { publicUrl } from "@steps/model/reference";
import type { LoadFailure } from "@steps/model/include";

/** The place of a search, for the words of an error. */
export interface Sought {
  /** The URL that was asked for. It may hold credentials, which are not shown. */
  readonly url: string;
  /** The kind of the place: a repository or a file. */
  readonly kind: "git" | "file";
}

// Such a failure concerns this machine or its user, and not the include.
const FATAL = ["CANCELLED", "CACHE_UNSAFE", "CACHE_IO"] as const;

/** Says why something could not be fetched. @throws the error itself if it ends the whole run */
export function toFailure(error: unknown, sought: Sought): LoadFailure {
  if (!isStepsError(error) || FATAL.some((code) => error.code === code)) throw error;
  const { problem, hint } = describe(error, sought);
  return { problem, hint };
}

function describe(
  error: Error & { readonly code: string; readonly hint?: string | undefined },
  sought: Sought,
): LoadFailure {
  const problem = problemOf(error);
  switch (error.code) {
    case "OFFLINE":
      return {
        problem: "It is not in the cache, and the run is offline",
        hint: "Load the file once without --offline.",
      };
    case "AUTH_FAILED":
      return { problem, hint: accessHint(error.hint, sought) };
    case "REPOSITORY_NOT_FOUND":
      return { problem, hint: "Look at the path of the project, and at the server: --project-url names another." };
    case "REFERENCE_NOT_FOUND":
      return { problem: sought.kind === "file" ? `${hostOf(sought)} has no such file` : problem };
    case "TRANSPORT":
      return transportFailure(error, sought) ?? { problem, hint: error.hint };
    default:
      return { problem, hint: error.hint };
  }
}

// Messages begin with what was tried, which the diagnostic says in words of its own.
function problemOf(error: Error): string {
  const rest = /^Cannot (?:[^":]|"[^"]*")*: (.+)$/s.exec(error.message)?.[1] ?? error.message;
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

function accessHint(hint: string | undefined, { url, kind }: Sought): string {
  const rest = "The server may answer so for what is not there, too.";
  if (/^ssh:/i.test(url)) return `The keys of your ssh agent and of ~/.ssh were offered. ${rest}`;
  const isSent = URL.canParse(url) && new URL(url).password !== "";
  if (isSent) return `The credentials of the URL were sent: those of origin or --project-url, or CI_JOB_TOKEN. ${rest}`;
  // The cache knows where credentials were looked for.
  if (kind === "git" && hint !== undefined)
    return `--project-url https://user:token@host/group/project gives credentials. ${hint}`;
  return `No credentials were sent. Give them with --mirror https://host/=https://user:token@host/. ${rest}`;
}

function hostOf({ url }: Sought): string {
  return URL.canParse(url) ? new URL(url).host : publicUrl(url);
}

const TLS = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_SSL|SSL certificate|certificate/i;

function transportFailure(error: unknown, sought: Sought): LoadFailure | undefined {
  const causes = causesOf(error);
  const text = causes.map((cause) => `${codeOf(cause)} ${messageOf(cause)}`).join("\n");
  const host = hostOf(sought);
  if (/ENOTFOUND|EAI_AGAIN|could not resolve host/i.test(text)) return { problem: `The host ${host} is unknown` };
  if (/ECONNREFUSED|connection refused/i.test(text)) return { problem: `Nothing answers at ${host}` };
  if (/TIMEOUT|ETIMEDOUT|timed out/i.test(text)) return { problem: `${host} does not answer in time` };
  if (!TLS.test(text)) return undefined;
  const hint = "NODE_EXTRA_CA_CERTS names a file with the authority of your server; git takes GIT_SSL_CAINFO.";
  return { problem: `${host} has a certificate that is not trusted: ${messageOf(causes.at(-1))}`, hint };
}

function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  for (let next: unknown = error; next !== undefined && causes.length < 10;) {
    causes.push(next);
    next = next instanceof Error ? next.cause : undefined;
  }
  return causes;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
