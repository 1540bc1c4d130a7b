import { spawn, type SpawnOptions } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { decodeTrace } from "@steps/trace";
import { compileCache, type EndedProcess, tempDir, type WatchedProcess, watchProcess } from "@steps/testkit";
import { onTestFinished } from "vitest";

/** The built command, as users have it; STEP_RUNNER_TEST_COMMAND names another build. */
export const COMMAND: string =
  process.env["STEP_RUNNER_TEST_COMMAND"] ?? resolve(import.meta.dirname, "../../../node_modules/.bin/step-runner");

export type Trace = Awaited<ReturnType<typeof decodeTrace>>;

export type Ended = EndedProcess;

type Signal = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGKILL";

export interface Running extends WatchedProcess {
  kill(signal: Signal): void;
}

interface CallOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  readonly stdio?: SpawnOptions["stdio"];
}

/** A user with a home of their own and a folder to work in. */
export interface World {
  readonly dir: string;
  readonly work: string;
  readonly stateDir: string;
  readonly cacheDir: string;
  readonly env: Readonly<Record<string, string>>;
  start(args: readonly string[], options?: CallOptions): Running;
  run(args: readonly string[], options?: CallOptions): Promise<Ended>;
  /** Runs a list of steps, written in YAML, with `ci`. */
  ci(steps: string, args?: readonly string[], options?: CallOptions): Promise<Ended>;
  /** Folders of runs, the oldest first. */
  runs(): string[];
}

export function createWorld(): World {
  const dir = tempDir("step-runner-test-");
  const work = join(dir, "work");
  const stateDir = join(dir, "state");
  const cacheDir = join(dir, "cache");
  for (const path of [work, join(dir, "home")]) mkdirSync(path);
  const env = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: join(dir, "home"),
    XDG_STATE_HOME: stateDir,
    XDG_CACHE_HOME: cacheDir,
    ...compileCache(),
  };
  const start: World["start"] = (args, options = {}) => startCommand(args, env, { cwd: work, ...options });
  const run: World["run"] = (args, options) => start(args, options).ended;
  const runsDir = join(stateDir, "step-runner/v1/runs");
  return {
    dir,
    work,
    stateDir: join(stateDir, "step-runner/v1"),
    cacheDir: join(cacheDir, "step-runner/v1"),
    env,
    start,
    run,
    ci: (steps, args = [], options = {}) => run(["ci", ...args], { ...options, env: { STEPS: steps, ...options.env } }),
    // A runner that was killed early may have made no folder yet.
    runs: () => (existsSync(runsDir) ? readdirSync(runsDir) : []).toSorted().map((name) => join(runsDir, name)),
  };
}

function startCommand(args: readonly string[], env: Readonly<Record<string, string>>, options: CallOptions): Running {
  const child = spawn(COMMAND, [...args], {
    cwd: options.cwd,
    env: { ...env, ...options.env },
    stdio: options.stdio ?? [options.input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  child.stdin?.on("error", () => undefined);
  if (options.input !== undefined) child.stdin?.end(options.input);
  return { ...watchProcess(child), kill: (signal) => void child.kill(signal) };
}

export async function readTrace(path: string): Promise<Trace> {
  return decodeTrace(readFileSync(path, "utf8"));
}

/** Process ids whose command line holds the text. */
export function processesWith(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && commandLine(pid).includes(text));
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    // It ended meanwhile.
    return "";
  }
}

/** Waits until something holds; the test's own time limit ends it. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((fulfil) => setTimeout(fulfil, 5));
}

/** A number of seconds that no other test sleeps for: what is left of a test can be found by it. */
export function uniqueSeconds(): string {
  return `${300 + Math.floor(Math.random() * 300)}.${String(Math.random()).slice(2, 12)}`;
}

/** All files below a folder, with their content as bytes in latin1. */
export function readAll(dir: string): { readonly path: string; readonly content: string }[] {
  // A command that keeps nothing there has no folder.
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, content: readFileSync(path, "latin1") }));
}
