import { randomUUID } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { basename, join } from "node:path";
import type { EngineOptions } from "@steps/engine";
import { ambientEnvironment } from "@steps/engine/environment";
import { PipeReserve, privateDirectory, Reaper, reaperCommand } from "@steps/engine/runs";
import { checkOptionNames, type OptionNames, messageOf, withDefaults } from "@steps/model";
import type { Log } from "@steps/model/operation";
import type { JobTable } from "../job-submission.ts";
import { createClock } from "./clock.ts";
import { isFolderName, folderNameOf, readRecord, removeTree } from "./job-folder.ts";
import { ServiceJobTable } from "./job-table.ts";
import type { JobRecord } from "./job-record.ts";
import { endProcesses, recoverJob } from "./recover-job.ts";
import { lockState } from "./state-lock.ts";
import { TableJob } from "./table-job.ts";
import { Tombstones } from "./tombstones.ts";

/** How a job table is opened. */
export interface JobTableOptions {
  /** Jobs, their logs and their journals. One table at a time uses it. */
  readonly stateDir: string;
  /** Fetched components, shared with other runners of the user. Default: the user's. */
  readonly cacheDir?: string;
  readonly runner: { readonly name: string; readonly version: string };
  /** The environment from which the ambient variables of each job are taken. Default: that of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Jobs start from hardly anything of `env` but PATH and HOME. */
  readonly isStrictEnv?: boolean;
  readonly limits?: Partial<JobLimits>;
  /**
   * How long a cancelled job has between TERM and KILL, in milliseconds, unless its request says otherwise. Default: 30
   * seconds.
   */
  readonly graceMs?: number;
  /** Takes what happens to jobs, and what the operator should know. Default: nothing is told. */
  readonly log?: Log;
  /** How components are fetched. */
  readonly cache?: EngineOptions["cache"];
  /** Other sources for the components of all jobs, and the lock that they have to match; see `EngineOptions`. */
  readonly sources?: EngineOptions["sources"];
  readonly lock?: EngineOptions["lock"];
  readonly traceSync?: EngineOptions["traceSync"];
  readonly allowedExports?: EngineOptions["allowedExports"];
  /**
   * The program that does the work of built-in steps; see `EngineOptions`. When absent, `script` is the only built-in
   * step.
   */
  readonly program?: EngineOptions["program"];
}

/** The limits of a job table, each with its default. */
export interface JobLimits {
  /** How many jobs run at once; 1000. */
  readonly maxJobs: number;
  /** How much is stored of what a job prints; 4 GiB. */
  readonly maxLogBytes: number;
  /** How long a job is kept after its end; 1 hour. */
  readonly retentionMs: number;
  /** How many jobs that ended are kept; 1000. */
  readonly maxFinished: number;
}

const DEFAULT_LIMITS: JobLimits = {
  maxJobs: 1000,
  maxLogBytes: 4 * 1024 * 1024 * 1024,
  retentionMs: 3_600_000,
  maxFinished: 1000,
};
const DEFAULT_GRACE_MS = 30_000;

const OPTION_NAMES: OptionNames<JobTableOptions> = {
  stateDir: true,
  cacheDir: true,
  runner: true,
  env: true,
  isStrictEnv: true,
  limits: true,
  graceMs: true,
  log: true,
  cache: true,
  sources: true,
  lock: true,
  traceSync: true,
  allowedExports: true,
  program: true,
};

/**
 * Opens the jobs of a state directory. Whatever a killed service left behind is put in order first: jobs that ran are
 * `interrupted` and none of their processes is left; a folder that is damaged is set aside.
 *
 * @throws {ServiceError} STATE_IN_USE
 * @throws {EngineError} STATE_UNSAFE
 */
export async function openJobTable(options: JobTableOptions): Promise<JobTable> {
  checkOptionNames("openJobTable()", options, OPTION_NAMES);
  const { stateDir, cacheDir, runner, env = process.env, cache, traceSync, log = () => {} } = options;
  privateDirectory(stateDir);
  const unlock = lockState(stateDir);
  try {
    const clock = createClock();
    const folders = prepareFolders(stateDir);
    const { program } = options;
    const reaper = program && new Reaper(reaperCommand(program(stateDir), stateDir));
    const reserve = new PipeReserve(folders.pipes, { maker: reaper });
    const tombstones = new Tombstones(join(stateDir, "tombstones.jsonl"));
    const jobs = await loadJobs({ folders, tombstones, clock, log });
    return new ServiceJobTable({
      folders,
      jobs,
      tombstones,
      runner,
      env: options.isStrictEnv === true ? ambientEnvironment(env, { isStrictEnv: true }) : env,
      clock,
      log,
      unlock: () => {
        reserve[Symbol.dispose]();
        reaper?.[Symbol.dispose]();
        unlock();
      },
      limits: withDefaults(DEFAULT_LIMITS, options.limits),
      graceMs: options.graceMs ?? DEFAULT_GRACE_MS,
      engine: {
        runner,
        env,
        cacheDir,
        cache,
        sources: options.sources,
        lock: options.lock,
        allowedExports: options.allowedExports,
        traceSync,
        program: options.program,
        pipeReserve: reserve,
        reaper,
      },
    });
  } catch (error) {
    unlock();
    throw error;
  }
}

/** The folders of a table. */
export interface Folders {
  readonly jobs: string;
  /** Files that are about to be removed. */
  readonly trash: string;
  /** Damaged files, kept for somebody to look at. */
  readonly damaged: string;
  /** Named pipes for jobs to come. */
  readonly pipes: string;
}

function prepareFolders(stateDir: string): Folders {
  const folders = {
    jobs: join(stateDir, "jobs"),
    trash: join(stateDir, "trash"),
    damaged: join(stateDir, "damaged"),
    pipes: join(stateDir, "pipes"),
  };
  for (const folder of [folders.trash, folders.pipes]) removeTree(folder);
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folders;
}

interface Loading {
  readonly folders: Folders;
  readonly tombstones: Tombstones;
  readonly clock: () => number;
  readonly log: Log;
}

/** The jobs on disk, the oldest first. */
async function loadJobs(loading: Loading): Promise<TableJob[]> {
  const { folders, clock, log } = loading;
  const found = readdirSync(folders.jobs).map((name) => readJob(join(folders.jobs, name), name));
  await endProcesses(found.flatMap(({ folder, record }) => (record?.status === "running" || !record ? [folder] : [])));
  const buried = loading.tombstones.serials();
  const jobs: TableJob[] = [];
  for (const { folder, record, problem } of found) {
    try {
      if (record === undefined) throw problem;
      const ended = record.status === "running" ? recoverJob(folder, record, clock) : record;
      if (ended !== record) log("warning", "Job ran when the service ended", { job: record.id, status: ended.status });
      if (buried.has(record.serial)) renameSync(folder, join(folders.trash, randomUUID()));
      else jobs.push(new TableJob(folder, ended));
    } catch (error) {
      log("error", "A job's folder cannot be read and is set aside", {
        folder: basename(folder),
        reason: messageOf(error),
      });
      setAside(folder, folders.damaged, log);
    }
  }
  return jobs.toSorted(byStart);
}

/** The oldest first; those of one millisecond by their ids, since the order of a directory is any. */
function byStart(a: TableJob, b: TableJob): number {
  return a.record.startedAt - b.record.startedAt || (a.id < b.id ? -1 : 1);
}

interface FoundJob {
  readonly folder: string;
  readonly record?: JobRecord;
  readonly problem?: unknown;
}

function readJob(folder: string, name: string): FoundJob {
  try {
    const record = isFolderName(name) && lstatSync(folder).isDirectory() ? readRecord(folder) : undefined;
    if (record !== undefined && folderNameOf(record.id) === name) return { folder, record };
    return { folder, problem: new Error("it holds no job") };
  } catch (problem) {
    return { folder, problem };
  }
}

function setAside(folder: string, damaged: string, log: Log): void {
  try {
    renameSync(folder, join(damaged, randomUUID()));
  } catch (error) {
    log("error", "A job's folder cannot be set aside", { folder: basename(folder), reason: messageOf(error) });
  }
}
