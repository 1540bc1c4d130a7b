import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  hasProgram,
  type RunnerServer,
  type ServedJob,
  type ServedPayload,
  startRunnerServer,
  tempDir,
  type WatchedProcess,
  watchProcess,
} from "@steps/testkit";
import { onTestFinished, vi } from "vitest";
import { environmentIn } from "../src/kit/environment.ts";
import { killAll, processesOf } from "../src/kit/processes.ts";

// On a machine that is busy each program takes its time.
vi.setConfig({ testTimeout: 240_000 });

/** The folder with the commands of the tree. */
export const BIN = resolve(import.meta.dirname, "../../../node_modules/.bin");

/** A machine with a registered runner, and the server that it belongs to. */
export interface RunnerWorld {
  readonly dir: string;
  readonly server: RunnerServer;
  /** Runs a command of `runner-bridge` to its end. */
  run(...args: readonly string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string };
  /** Starts `runner-bridge start`. */
  start(): WatchedProcess;
  /** The folders of jobs that are kept. */
  kept(): readonly string[];
}

/** Registers a runner with a server of its own. Whatever it leaves is killed when the test ends. */
export async function createRunner(...flags: readonly string[]): Promise<RunnerWorld> {
  const server = await startRunnerServer();
  const dir = tempDir("steps-runner-");
  for (const name of ["home", "tmp"]) mkdirSync(join(dir, name));
  onTestFinished(async () => {
    killAll(processesOf(dir));
    await server[Symbol.asyncDispose]();
  });
  const env = environmentIn(dir);
  const program = join(BIN, "runner-bridge");
  const run: RunnerWorld["run"] = (...args) => {
    const { status, stdout, stderr } = spawnSync(program, args, { env, cwd: dir, encoding: "utf8" });
    return { status, stdout, stderr };
  };
  // The double runs in this process, so that the command must not block it.
  const registering = watchProcess(
    spawn(program, ["register", "--url", server.url, "--token", server.token, ...flags], { env, cwd: dir }),
  );
  const { code, stderr } = await registering.ended;
  if (code !== 0) throw new Error(stderr);
  return {
    dir,
    server,
    run,
    start: () => watchProcess(spawn(program, ["start"], { env, cwd: dir })),
    kept() {
      try {
        return readdirSync(join(dir, "state/runner-bridge/runner/jobs"));
      } catch {
        return [];
      }
    },
  };
}

/** A script that counts to 600, with a pause after each `step` numbers. It notes in a file that it ran, where a second run would be seen. */
export function countingScript(step: number): readonly string[] {
  const pause = `[ $((i % ${step})) = 0 ] && sleep 0.1`;
  return ["pwd; echo run >>runs", `i=0; while [ $i -lt 600 ]; do i=$((i+1)); echo n$i; ${pause}; done`, "cat runs"];
}

/** Starts the runner and kills it, once for each of these counts: as soon as so many numbers of the job's trace have come. */
export async function killWhileItCounts(world: RunnerWorld, job: ServedJob, counts: readonly number[]): Promise<void> {
  for (const least of counts) {
    const runner = world.start();
    await world.server.until(() => job.end ?? numbersIn(job.trace).length >= least);
    runner.child.kill("SIGKILL");
    await runner.ended;
  }
}

/** A job with one script and without a repository. */
export function scriptJob(id: number, script: readonly string[], more: ServedPayload = {}): ServedPayload {
  return {
    id,
    token: `glcbt-job-${id}`,
    job_info: { id, name: `job ${id}`, project_id: 1, project_full_path: "group/project" },
    git_info: { repo_url: "https://127.0.0.1:9/group/project.git", sha: "", ref: "main" },
    runner_info: { timeout: 3600 },
    variables: [{ key: "GIT_STRATEGY", value: "none", public: true }],
    steps: [{ name: "script", script, timeout: 3600, when: "on_success", allow_failure: false }],
    ...more,
  };
}

/** The output of a trace without the lines of the runner. */
export function numbersIn(trace: Buffer): readonly string[] {
  return trace
    .toString()
    .split("\n")
    .filter((line) => /^n\d+$/.test(line));
}

/** The lines `n1` … of a job that counts. */
export function numbersTo(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `n${index + 1}`);
}

/** Makes an image with a static busybox; `undefined` where there is no Docker or no such busybox. */
export function busyboxImage(name: string): string | undefined {
  if (!hasProgram("docker") || !hasProgram("busybox")) return undefined;
  const busybox = realpathSync(spawnSync("sh", ["-c", "command -v busybox"], { encoding: "utf8" }).stdout.trim());
  if (spawnSync("docker", ["version"], { stdio: "ignore" }).status !== 0) return undefined;
  const root = tempDir();
  for (const folder of ["bin", "tmp", "etc"]) mkdirSync(join(root, folder));
  copyFileSync(busybox, join(root, "bin/busybox"));
  for (const applet of ["sh", "cat", "echo", "sleep", "pwd"]) symlinkSync("busybox", join(root, "bin", applet));
  const { status } = spawnSync("sh", ["-c", 'tar -C "$0" -c . | docker import - "$1"', root, name], {
    stdio: "ignore",
  });
  return status === 0 ? name : undefined;
}
