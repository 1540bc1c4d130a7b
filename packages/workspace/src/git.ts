import { findProgram, runBriefly } from "@steps/platform/processes";
import { WorkspaceError } from "./workspace-error.ts";

const TIMEOUT_MS = 10 * 60_000;
const MAX_CHARS = 256 * 1024 * 1024;
const SETTINGS = ["core.hooksPath=/dev/null", "core.fsmonitor=false", "log.showSignature=false"];

/** Git as a program. It runs nothing that a repository names, such as hooks, and never asks a person. */
export interface Git {
  /** Runs git and gives its standard output. @throws {WorkspaceError} `GIT_FAILED` */
  readonly run: (dir: string, ...args: readonly string[]) => Promise<string>;
  /** The same; `undefined` when git says no or takes longer than ten minutes. */
  readonly ask: (dir: string, ...args: readonly string[]) => Promise<string | undefined>;
}

/**
 * Finds the git that is on the PATH; `undefined` when there is none.
 *
 * @param env the environment that git is found in and started with
 * @param signal ends what runs. Default: nothing does
 */
export function findGit(env: Readonly<Record<string, string | undefined>>, signal?: AbortSignal): Git | undefined {
  const program = findProgram("git", { path: env["PATH"], workDir: "/" });
  if (program === undefined) return undefined;
  // The variables of a hook name another repository.
  const clean = Object.fromEntries(
    Object.entries(env).filter(([name]) => !/^GIT_(?:DIR|WORK_TREE|INDEX_FILE|PREFIX)$/.test(name)),
  );
  const options = SETTINGS.flatMap((setting) => ["-c", setting]);
  const call = (dir: string, args: readonly string[]): ReturnType<typeof runBriefly> =>
    runBriefly({
      program,
      args: ["-C", dir, ...options, ...args],
      env: { ...clean, GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0", LC_ALL: "C" },
      timeoutMs: TIMEOUT_MS,
      maxChars: MAX_CHARS,
      signal,
    });
  return {
    run: async (dir, ...args) => {
      const { exitCode, stdout, stderr, startError } = await call(dir, args);
      if (exitCode === 0) return stdout;
      const words = stderr.trim().split("\n").at(-1) ?? "";
      throw new WorkspaceError("GIT_FAILED", `git ${args[0]} in "${dir}": ${startError?.message ?? words}`);
    },
    ask: async (dir, ...args) => {
      const { exitCode, stdout } = await call(dir, args);
      return exitCode === 0 ? stdout : undefined;
    },
  };
}
