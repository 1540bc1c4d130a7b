import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { compileCache, type EndedProcess, type WatchedProcess, watchProcess, withTempDir } from "@steps/testkit";
import { killAll, processesOf } from "./processes.ts";

const BIN = resolve(import.meta.dirname, "../../../../node_modules/.bin");

/** The built command, as users have it; STEP_RUNNER_TEST_COMMAND names another build. */
const COMMAND: string = process.env["STEP_RUNNER_TEST_COMMAND"] ?? join(BIN, "step-runner");

// A process that the command left behind holds the pipes open: what was written by then is all there is to see.
const PATIENCE_MS = 1000;

export type Ended = EndedProcess;
export type Running = WatchedProcess;

interface CallOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** File descriptors for standard output and error, in place of pipes. */
  readonly output?: number;
}

/** A user with folders of their own, all below one. */
export interface User {
  readonly dir: string;
  /** The directory that commands run in. */
  readonly work: string;
  readonly state: string;
  readonly cache: string;
  readonly env: Readonly<Record<string, string>>;
  start(args: readonly string[], options?: CallOptions): Running;
  run(args: readonly string[], options?: CallOptions): Promise<Ended>;
}

/** Makes a user, and in the end kills the processes and removes the folders that are left of it. */
export async function withUser<T>(use: (user: User) => Promise<T>): Promise<T> {
  return withTempDir(async (dir) => {
    try {
      return await use(createUser(dir));
    } finally {
      killAll(processesOf(dir));
    }
  }, "steps-faults-");
}

function createUser(dir: string): User {
  const [home, work, temporary] = ["home", "work", "tmp"].map((name) => join(dir, name)) as [string, string, string];
  for (const path of [home, work, temporary]) mkdirSync(path);
  const env = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: home,
    TMPDIR: temporary,
    XDG_STATE_HOME: join(dir, "state"),
    XDG_CACHE_HOME: join(dir, "cache"),
    NO_COLOR: "1",
    ...compileCache(),
  };
  const start: User["start"] = (args, options = {}) =>
    watchProcess(
      spawn(COMMAND, [...args], {
        cwd: options.cwd ?? work,
        env: { ...env, ...options.env },
        stdio: ["ignore", options.output ?? "pipe", options.output ?? "pipe"],
      }),
      PATIENCE_MS,
    );
  return {
    dir,
    work,
    state: join(dir, "state/step-runner/v1"),
    cache: join(dir, "cache/step-runner/v1"),
    env,
    start,
    run: (args, options) => start(args, options).ended,
  };
}
