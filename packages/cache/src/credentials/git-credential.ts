import { runBriefly } from "@steps/platform/processes";
import { type CredentialTarget, type FoundCredential, isOneLine } from "./credential.ts";
import { helperEnvironment } from "./helper-environment.ts";

/** A git program whose configuration names credential helpers. */
export interface CredentialProgram {
  /** Absolute. */
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
  /** The time that the helpers have together. Default: 30 seconds. */
  readonly timeoutMs?: number;
}

/** What the helpers of git gave, with all that they want to hear again. */
export interface HelperCredential extends FoundCredential {
  /** Lines of git's credential protocol. */
  readonly lines: string;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const MAX_ANSWER_CHARS = 64 * 1024;
/** How messages call it. */
const SOURCE = "git's credential helper";
const TOLD = ["path", "username", "password", "password_expiry_utc", "oauth_refresh_token"];

/**
 * Asks the credential helpers of the user's git, as git itself does, but never the user. What they print is never part of a
 * message, except the name of a wrong server.
 *
 * @returns the credentials, or a sentence that says why there are none
 */
export async function askHelpers(
  target: CredentialTarget,
  git: CredentialProgram,
): Promise<HelperCredential | { readonly nothing: string }> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = git;
  const { exitCode, stdout, isTimedOut } = await converse("fill", questionOf(target), { ...git, timeoutMs });
  if (isTimedOut) return { nothing: `${SOURCE} did not answer within ${timeoutMs} ms` };
  if (stdout.length >= MAX_ANSWER_CHARS) return { nothing: `${SOURCE} said too much to be read` };
  if (exitCode !== 0) return { nothing: `git knows no credentials for ${target.host}` };
  return readAnswer(target, stdout);
}

/** Tells the helpers how the server took their credentials, so that they keep or forget them. Their failures are theirs. */
export async function tellHelpers(
  verdict: "approve" | "reject",
  { lines }: HelperCredential,
  git: CredentialProgram,
): Promise<void> {
  await converse(verdict, lines, { timeoutMs: DEFAULT_TIMEOUT_MS, ...git });
}

async function converse(
  action: "fill" | "approve" | "reject",
  input: string,
  { program, env, signal, timeoutMs }: CredentialProgram & { readonly timeoutMs: number },
): Promise<{ exitCode: number | null; stdout: string; isTimedOut: boolean }> {
  return await runBriefly({
    program,
    args: ["credential", action],
    env: helperEnvironment(env),
    timeoutMs,
    signal,
    maxChars: MAX_ANSWER_CHARS,
    input,
  });
}

function questionOf({ host, path, user }: CredentialTarget): string {
  const name = user === undefined ? "" : `username=${user}\n`;
  return `protocol=https\nhost=${host}\npath=${path}\n${name}\n`;
}

function readAnswer(target: CredentialTarget, text: string): HelperCredential | { readonly nothing: string } {
  const answer = new Map<string, string>();
  for (const line of text.split("\n")) {
    const split = line.indexOf("=");
    if (split > 0) answer.set(line.slice(0, split), line.slice(split + 1));
  }
  const { host, user } = target;
  const [username, password] = [answer.get("username"), answer.get("password")];
  // A helper may answer with another server than it was asked for.
  if (answer.get("protocol") !== "https" || answer.get("host")?.toLowerCase() !== host) {
    return { nothing: `${SOURCE} answered for another server than ${host}` };
  }
  if (username === undefined || password === undefined || password === "") {
    return { nothing: `${SOURCE} did not give a user and a password` };
  }
  if (user !== undefined && username !== user) return { nothing: `${SOURCE} answered for another user than ${user}` };
  // Bytes that are not UTF-8 would be other ones when they are sent, and a good password would then be told to be wrong.
  if (username.includes(":") || text.includes("\ufffd") || ![...answer.values()].every(isOneLine)) {
    return { nothing: `${SOURCE} gave a user or a password that cannot be sent` };
  }
  const told = TOLD.flatMap((key) => (answer.has(key) ? [`${key}=${answer.get(key)}\n`] : [])).join("");
  return { source: SOURCE, username, password, lines: `protocol=https\nhost=${host}\n${told}\n` };
}
