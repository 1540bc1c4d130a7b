import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { dialUnix } from "@steps/dial";
import { folderProblem, livenessOf, makePrivateFolder, parseIdentity } from "@steps/platform";
import { sendSignal, startDetached } from "@steps/platform/processes";
import { RunnerError } from "../runner-error.ts";
import type { Executor, PlacedJob } from "./executor.ts";
import { absoluteFolder, projectPath, slotPath } from "./job-paths.ts";

const START_MS = 30_000;
const POLL_MS = 50;
const STOP_MS = 20_000;

/**
 * Jobs on this machine, as this user. Each has a service of its own, a process that outlives the runner. A service that was
 * killed is started again over the same state, and tells what became of the job; it never runs it twice.
 */
export const hostExecutor: Executor = {
  sharesService: false,
  folders(job) {
    const { config, place } = job;
    const buildsDir = absoluteFolder("builds_dir", config.builds_dir ?? join(place.stateDir, "builds"));
    const caches = absoluteFolder("cache_dir", config.cache_dir ?? join(place.stateDir, "cache"));
    return {
      buildsDir,
      projectDir: join(buildsDir, slotPath(job), projectPath(job)),
      cacheDir: join(caches, projectPath(job)),
    };
  },
  async open(job) {
    const { projectDir, cacheDir = "" } = hostExecutor.folders(job);
    for (const folder of [projectDir, cacheDir]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    const socket = job.remembered["socket"] ?? socketFor(job.folder);
    job.remember({ ...job.remembered, socket });
    const service = new HostService(job, socket);
    await service.ensure();
    const dial = dialUnix({ path: socket });
    return {
      async dial(signal) {
        await service.ensure();
        return await dial(signal);
      },
      env: {},
      problem: () => Promise.resolve(undefined),
    };
  },
  async remove(job) {
    const { socket } = job.remembered;
    if (socket === undefined) return;
    await new HostService(job, socket).stop();
    rmSync(join(job.folder, "service"), { recursive: true, force: true });
    rmSync(socket, { force: true });
  },
};

/** The process with the service of one job. */
class HostService {
  readonly #job: PlacedJob;
  readonly #socket: string;

  constructor(job: PlacedJob, socket: string) {
    this.#job = job;
    this.#socket = socket;
  }

  /** Starts the service unless it runs. @throws {RunnerError} PLACE_FAILED */
  async ensure(): Promise<void> {
    if (this.#pid() !== undefined && (await this.#answers())) return;
    await this.stop();
    const { place, folder, remember, remembered } = this.#job;
    const state = join(folder, "service");
    makePrivateFolder(state);
    const args = ["serve", `--socket=${this.#socket}`, `--state-dir=${state}`, "--require-token", "--retention=168h"];
    const identity = await startDetached({
      program: place.stepRunner,
      args,
      env: process.env,
      log: join(state, "log"),
    });
    if (identity === undefined) throw this.#failure(`"${place.stepRunner}" cannot be started`);
    remember({ ...remembered, socket: this.#socket, process: identity });
    this.#identity = identity;
    const end = performance.now() + START_MS;
    while (!(await this.#answers())) {
      if (this.#pid() === undefined) throw this.#failure("it has ended");
      if (performance.now() > end) throw this.#failure(`it does not answer within ${START_MS / 1000} seconds`);
      await delay(POLL_MS);
    }
  }

  /** Ends the service: its jobs with their grace, or by force when that takes too long. */
  async stop(): Promise<void> {
    const end = performance.now() + STOP_MS;
    for (let pid = this.#pid(), isTold = false; pid !== undefined; pid = this.#pid()) {
      if (performance.now() > end) sendSignal(pid, "SIGKILL");
      else if (!isTold) sendSignal(pid, "SIGTERM");
      isTold = true;
      await delay(POLL_MS);
    }
  }

  #identity: string | undefined;

  #pid(): number | undefined {
    const text = this.#identity ?? this.#job.remembered["process"];
    const identity = text === undefined ? undefined : parseIdentity(text);
    return identity !== undefined && livenessOf(identity) === "alive" ? identity.pid : undefined;
  }

  async #answers(): Promise<boolean> {
    try {
      const stream = await dialUnix({ path: this.#socket })(AbortSignal.timeout(START_MS));
      stream.destroy();
      return true;
    } catch {
      return false;
    }
  }

  #failure(problem: string): RunnerError {
    const said = endOfFile(join(this.#job.folder, "service", "log"));
    return new RunnerError("PLACE_FAILED", `The service of the job cannot be used: ${problem}${said}`);
  }
}

function endOfFile(path: string): string {
  try {
    const lines = readFileSync(path, "utf8").trim().split("\n").slice(-3);
    return lines.join("").trim() === "" ? "" : `: ${lines.join("; ").slice(-1000)}`;
  } catch {
    return "";
  }
}

// The path of a socket has about a hundred bytes, which a state directory may use up.
function socketFor(folder: string): string {
  const base = tmpdir().length > 50 ? "/tmp" : tmpdir();
  const root = join(base, `runner-bridge-${userInfo().uid}`);
  makePrivateFolder(root);
  const problem = folderProblem(root);
  if (problem !== undefined) throw new RunnerError("PLACE_FAILED", `The folder "${root}" cannot be used: ${problem}`);
  return join(root, `${createHash("sha256").update(folder).digest("hex").slice(0, 16)}.sock`);
}
