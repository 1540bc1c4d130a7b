import { findProgram, runBriefly } from "@steps/platform/processes";

/** Git as a program, asked in one folder. */
export interface GitProgram {
  /** Gives what git prints; `undefined` when it says no or takes longer than a minute. */
  readonly ask: (...args: readonly string[]) => Promise<string | undefined>;
}

const TIMEOUT_MS = 60_000;
const MAX_CHARS = 64 * 1024 * 1024;

// Nothing that a repository's configuration names is run: no hooks, no monitors, no checks of signatures.
const SAFE = ["core.hooksPath=/dev/null", "core.fsmonitor=false", "log.showSignature=false"].flatMap((text) => [
  "-c",
  text,
]);

/** The git that is on the PATH; `undefined` when there is none. */
export function findGit(folder: string, env: Readonly<Record<string, string | undefined>>): GitProgram | undefined {
  const program = findProgram("git", { path: env["PATH"], workDir: folder });
  if (program === undefined) return undefined;
  // The variables of a hook name another repository.
  const clean = Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX)$/.test(name)),
  );
  return {
    ask: async (...args) => {
      const { exitCode, stdout } = await runBriefly({
        program,
        args: ["-C", folder, ...SAFE, ...args],
        env: { ...clean, GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" },
        timeoutMs: TIMEOUT_MS,
        maxChars: MAX_CHARS,
      });
      return exitCode === 0 ? stdout : undefined;
    },
  };
}
