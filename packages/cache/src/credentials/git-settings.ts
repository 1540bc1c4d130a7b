import { runBriefly } from "@steps/platform/processes";
import { isOneLine } from "./credential.ts";
import { helperEnvironment } from "./helper-environment.ts";

/** What the user's configuration of git says about where and with what it fetches. */
export interface GitSettings {
  /** The credential helpers, as they are configured; a command of the shell is not told from a name. */
  readonly helpers: readonly string[];
  /** What `url.BASE.insteadOf` says: git fetches from `base` what begins with `prefix`. `base` may hold credentials. */
  readonly rewrites: readonly { readonly base: string; readonly prefix: string }[];
}

const TIMEOUT_MS = 10_000;
const MAX_CHARS = 256 * 1024;

/** Reads it by git itself, from the configurations of the user and of the system. Nothing is said of one that cannot be read. */
export async function readGitSettings(
  program: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<GitSettings> {
  const { exitCode, stdout } = await runBriefly({
    program,
    args: ["config", "-z", "--includes", "--get-regexp", "^(url\\..*\\.insteadof|credential\\.(.*\\.)?helper)$"],
    env: helperEnvironment(env),
    timeoutMs: TIMEOUT_MS,
    maxChars: MAX_CHARS,
  });
  const helpers: string[] = [];
  const rewrites: { base: string; prefix: string }[] = [];
  for (const setting of exitCode === 0 ? stdout.split("\0") : []) {
    const [, key = "", value = ""] = /^([^\n]*)\n?(.*)$/s.exec(setting) ?? [];
    const base = /^url\.(.*)\.insteadof$/s.exec(key)?.[1];
    if (base !== undefined) {
      if (isOneLine(base) && isOneLine(value) && value !== "") rewrites.push({ base, prefix: value });
    } else if (value !== "" && key.startsWith("credential.")) helpers.push(value);
    // An empty one takes back those before it; one of a single server leaves the others.
    else if (key === "credential.helper") helpers.length = 0;
  }
  return { helpers, rewrites };
}

/**
 * Says what `insteadOf` would have done to a URL, and how to have it here; `undefined` if no rule is for it. Credentials of a rule
 * are not shown.
 */
export function rewriteHint(url: string, { rewrites }: Pick<GitSettings, "rewrites">): string | undefined {
  const rule = rewrites
    .filter(({ prefix }) => url.startsWith(prefix))
    .toSorted((a, b) => b.prefix.length - a.prefix.length)[0];
  if (rule === undefined) return undefined;
  const target = withoutSecrets(rule.base);
  return `git would take "${rule.prefix}…" from "${target}…" (url.….insteadOf), which is not used here. To have the same: STEP_RUNNER_MIRROR=${rule.prefix}=${target}`;
}

// `git@host:` is the address of ssh that has no scheme.
function withoutSecrets(base: string): string {
  const short = /^((?:[^/@\s]+@)?[^/:@\s]+):(?!\/\/)(.*)$/.exec(base);
  if (short !== null) return `ssh://${short[1]}/${short[2]}`;
  return base.replace(/^(https?:\/\/)[^/@]*@/i, "$1USER:TOKEN@");
}
