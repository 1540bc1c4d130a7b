import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { checkOptionNames, type OptionNames, messageOf } from "@steps/model";
import type { Log } from "@steps/model/operation";
import { makePrivateFolder, takeTurn } from "@steps/platform";
import type { RunnerApi, RunnerApiOptions } from "@steps/runner-api/client";
import type { JobPayload } from "@steps/runner-api/job";
import { loadConfig, saveConfig, systemIdOf } from "../config/config-file.ts";
import type { RunnerConfig } from "../config/runner-config.ts";
import { connectServer } from "../connect-server.ts";
import type { RunnerPlace } from "../executors/executor.ts";
import { findExecutor } from "../executors/find-executor.ts";
import { type JobWork, runJob } from "../job/run-job.ts";
import { isStored, type StoredJob, storedJobs, storeJob } from "../job/job-store.ts";
import { KeptToken } from "../register/kept-token.ts";
import { RunnerError } from "../runner-error.ts";
import type { UploadPace } from "../trace/upload-trace.ts";
import { Health } from "./health.ts";
import { pollRunner } from "./poll-runner.ts";
import { type Right, Rights } from "./rights.ts";

/** How the runners of a configuration are started. */
export interface StartOptions extends RunnerPlace {
  readonly configFile: string;
  /** Takes what happens to jobs and runners. */
  readonly log: Log;
  /** Aborted: no more jobs are taken, and those that run are waited for. */
  readonly drain: AbortSignal;
  /** Aborted: jobs that run are cancelled, and their servers are told. */
  readonly cancel: AbortSignal;
  /** Aborted: nothing is waited for; jobs go on, and the next process finds them. */
  readonly leave: AbortSignal;
  /** The times of uploads. Default: those of gitlab-runner. */
  readonly pace?: UploadPace | undefined;
  /** How calls are repeated that a server puts off. Default: as gitlab-runner does it. */
  readonly retries?: RunnerApiOptions["retries"];
}

/** The numbers of jobs by what became of them. */
export type WorkCounts = Readonly<Record<JobWork, number>>;

const OPTION_NAMES: OptionNames<StartOptions> = {
  configFile: true,
  log: true,
  drain: true,
  cancel: true,
  leave: true,
  pace: true,
  retries: true,
  stateDir: true,
  stepRunner: true,
};

/**
 * Takes jobs for all runners of the configuration, and takes up those that an earlier process has left, until it is told to end.
 *
 * @throws {RunnerError} CONFIG_INVALID, CONFIG_IO, RUNNER_BUSY when another process does so with this state directory
 */
export async function startRunners(options: StartOptions): Promise<WorkCounts> {
  checkOptionNames("startRunners()", options, OPTION_NAMES);
  makePrivateFolder(options.stateDir);
  const leave = await onlyOne(options.stateDir);
  try {
    return await new RunnerProcess(options).run();
  } finally {
    await leave();
  }
}

async function onlyOne(stateDir: string): Promise<() => Promise<void>> {
  const soon = new AbortController();
  try {
    return await takeTurn(join(stateDir, "turn"), { signal: soon.signal, onWait: () => soon.abort() });
  } catch (cause) {
    throw new RunnerError("RUNNER_BUSY", `Another process takes jobs with the state directory "${stateDir}"`, {
      cause,
      hint: "End it, or give this one a state directory and a configuration of its own.",
    });
  }
}

interface Taken {
  readonly slots: Set<number>;
  config: RunnerConfig;
  readonly api: RunnerApi;
}

class RunnerProcess {
  readonly #options: StartOptions;
  readonly #jobsDir: string;
  readonly #rights: Rights;
  readonly #runners = new Map<string, Taken>();
  readonly #systemId: string;
  readonly #jobs = new Set<Promise<void>>();
  readonly #counts: Record<JobWork, number> = { success: 0, failed: 0, "not-ours": 0, left: 0 };
  readonly #config;

  constructor(options: StartOptions) {
    this.#options = options;
    this.#jobsDir = join(options.stateDir, "jobs");
    this.#config = loadConfig(options.configFile);
    this.#systemId = systemIdOf(options.configFile);
    this.#rights = new Rights(this.#config.concurrent);
    for (const config of this.#config.runners) {
      this.#runners.set(keyOf(config), { slots: new Set(), config, api: connectServer(config, options.retries) });
    }
  }

  async run(): Promise<WorkCounts> {
    const { log, drain } = this.#options;
    const { concurrent, runners } = this.#config;
    if (runners.length > concurrent) {
      log("warning", "There are more runners than jobs at once: each waits until the requests of others are answered", {
        runners: runners.length,
        concurrent,
      });
    }
    this.#takeUp();
    const sweeps = [...this.#runners.values()].map((taken) => this.#sweep(taken));
    const polls = [...this.#runners].flatMap(([key, taken]) => this.#polls(key, taken));
    const rotations = [...this.#runners.values()].map((taken) => this.#keepToken(taken));
    log("info", "Taking jobs", { runners: runners.length, concurrent });
    await Promise.all([...polls, ...rotations, ...sweeps]);
    if (this.#jobs.size > 0 && drain.aborted) log("info", "Waiting for jobs that run", { jobs: this.#jobs.size });
    while (this.#jobs.size > 0) await Promise.all(this.#jobs);
    for (const { api, config } of this.#runners.values()) {
      api.close();
      await (await findExecutor(config.executor)).close?.();
    }
    return this.#counts;
  }

  #polls(key: string, taken: Taken): readonly Promise<void>[] {
    const { log, drain } = this.#options;
    const health = new Health(this.#config);
    const poll = (): Promise<void> =>
      pollRunner(
        {
          key,
          config: () => taken.config,
          api: taken.api,
          systemId: this.#systemId,
          rights: this.#rights,
          health,
          checkIntervalMs: this.#config.check_interval * 1000,
          onJob: (payload, right) => this.#accept(key, taken, payload, right),
          log,
        },
        drain,
      );
    return Array.from({ length: taken.config.request_concurrency }, poll);
  }

  // The jobs of an earlier process; one whose runner is no longer configured waits until it is again.
  #takeUp(): void {
    for (const job of storedJobs(this.#jobsDir)) {
      const taken = this.#runners.get(job.record.runner);
      const { id } = job.record.payload;
      if (taken === undefined) {
        this.#options.log("warning", "Job waits on the disk: its runner is not configured any more", { job: id });
        continue;
      }
      this.#options.log("info", "Job is taken up again", { job: id, runner: taken.config.name });
      taken.slots.add(job.record.slot);
      this.#work(taken, job, this.#rights.take(job.record.runner));
    }
  }

  // Places of jobs whose files were lost, as when a machine was replaced by one with its configuration.
  async #sweep({ config }: Taken): Promise<void> {
    const { log, stateDir, stepRunner } = this.#options;
    try {
      const place = { stateDir, stepRunner };
      const isKept = (attempt: string): boolean => isStored(this.#jobsDir, attempt);
      const executor = await findExecutor(config.executor);
      for (const name of (await executor.sweep?.({ config, place, systemId: this.#systemId, isKept })) ?? [])
        log("info", "Removed what was left of an earlier process", { name });
    } catch (error) {
      log("warning", "What an earlier process may have left was not looked for", {
        runner: config.name,
        reason: messageOf(error),
      });
    }
  }

  #accept(key: string, taken: Taken, payload: JobPayload, right: Right): void {
    const slot = lowestFree(taken.slots);
    try {
      const job = storeJob(this.#jobsDir, { runner: key, payload, slot });
      taken.slots.add(slot);
      this.#options.log("info", "Job was received", { job: payload.id, runner: taken.config.name });
      this.#work(taken, job, right);
    } catch (error) {
      // Without a place on the disk it is not begun, and the server offers it to another runner.
      this.#options.log("error", "Job cannot be kept", { job: payload.id, reason: messageOf(error) });
      right.release();
    }
  }

  #work(taken: Taken, job: StoredJob, right: Right): void {
    const working = this.#runOne(taken, job).finally(() => {
      taken.slots.delete(job.record.slot);
      right.release();
      this.#jobs.delete(working);
    });
    this.#jobs.add(working);
  }

  async #runOne({ config, api }: Taken, job: StoredJob): Promise<void> {
    const { log, stateDir, stepRunner, cancel, leave, pace } = this.#options;
    const { id } = job.record.payload;
    try {
      const executor = await findExecutor(config.executor);
      const place = { stateDir, stepRunner };
      const context = { config, executor, place, api, systemId: this.#systemId, pace, log, cancel, leave };
      const work = await runJob(context, job);
      this.#counts[work] += 1;
      log("info", `Job ${SENTENCES[work]}`, { job: id, runner: config.name });
    } catch (error) {
      this.#counts.left += 1;
      log("error", "Job is left on the disk", { job: id, reason: messageOf(error) });
    }
  }

  async #keepToken(taken: Taken): Promise<void> {
    const { drain, log, configFile } = this.#options;
    const save = (before: RunnerConfig, after: RunnerConfig): void => replaceRunner(configFile, before, after);
    const token = new KeptToken(taken.config, { api: taken.api, save });
    while (!drain.aborted) {
      let pauseMs = CHECK_MS;
      try {
        if (await token.look()) log("info", "The token of a runner was exchanged", { runner: taken.config.name });
      } catch (error) {
        const reason = messageOf(error);
        log("warning", "The token of a runner was not exchanged", { runner: taken.config.name, reason });
        pauseMs = RETRY_MS;
      }
      taken.config = token.config;
      await delay(pauseMs, undefined, { signal: drain }).catch(() => undefined);
    }
  }
}

const RETRY_MS = 60_000;
const CHECK_MS = 10_000;

const SENTENCES: Readonly<Record<JobWork, string>> = {
  success: "succeeded",
  failed: "failed",
  "not-ours": "is not ours any more",
  left: "goes on without the runner",
};

/** The name of a runner that never changes, as its token does. */
function keyOf({ url, id, token }: RunnerConfig): string {
  return `${url} ${id === 0 ? token : id}`;
}

function lowestFree(slots: ReadonlySet<number>): number {
  let slot = 0;
  while (slots.has(slot)) slot += 1;
  return slot;
}

// Others may have changed the file since it was read.
function replaceRunner(file: string, before: RunnerConfig, after: RunnerConfig): void {
  const config = loadConfig(file);
  const runners = config.runners.map((runner) =>
    keyOf(runner) === keyOf(before)
      ? {
          ...runner,
          token: after.token,
          token_obtained_at: after.token_obtained_at,
          token_expires_at: after.token_expires_at,
        }
      : runner,
  );
  saveConfig(file, { ...config, runners });
}
