import { revealString, type RuntimeString } from "@steps/model";
import type { EnvironmentRecord } from "@steps/model/environment";
import type { Places } from "@steps/model/event";
import { countDenied } from "./inherit-env.ts";
import { type Run, tell } from "./run.ts";
import type { Permit } from "../process/process-limit.ts";
import { type ProcessEnd, runProcess } from "../process/run-process.ts";
import type { StepLog } from "../output/step-log.ts";
import type { SendSignal } from "../process/stop.ts";
import { COOKIE_VARIABLE } from "../process/terminate.ts";
import { toolsOf } from "../process/tools.ts";

/** A process of a step, ready to be started. */
export interface PreparedProcess {
  /** The path of the step. */
  readonly path: string;
  /** The absolute path of the program. */
  readonly program: string;
  /** The command, with the program's name as the author wrote it. */
  readonly command: readonly RuntimeString[];
  readonly workDir: string;
  /** The whole environment but the cookies. */
  readonly env: EnvironmentRecord;
  readonly places: Places;
  /** The time between TERM and KILL, in milliseconds, when it is to be shorter than that of the job. */
  readonly cancelTimeoutMs?: number | undefined;
  /**
   * The command that the same program gets instead of the one that is told: for a process that is elsewhere, or a text in a
   * file.
   */
  readonly client?: ProcessClient | undefined;
}

/** A command that is started while another is told. The client of a process elsewhere goes when that process has ended. */
export interface ProcessClient {
  readonly command: readonly RuntimeString[];
  readonly workDir: string;
  readonly env: EnvironmentRecord;
  /** Signals the process. Absent when it ends with its client. */
  readonly sendSignal?: SendSignal;
}

/**
 * Tells what is going to run, runs it, and comes back when nothing of it is left. Waits first while the runner has as many processes as it
 * can have; an abort ends that, and then nothing is told and nothing has run.
 */
export async function startProcess(run: Run, prepared: PreparedProcess, log: StepLog): Promise<ProcessEnd> {
  using permit = run.processes.tryTake(run.state) ?? (await waitForPermit(run, prepared.path));
  return permit === undefined ? {} : await runTold(run, prepared, { log, permit });
}

function waitForPermit(run: Run, path: string): Promise<Permit | undefined> {
  noteWait(run, path);
  return run.processes.wait(run.state, run.signal);
}

// Steps that run at once and wait for each other may wait for ever then: whoever wonders finds the reason.
function noteWait(run: Run, path: string): void {
  const { state, processes } = run;
  if (state.isWaitNoted) return;
  state.isWaitNoted = true;
  const message =
    `exec: there is room for ${processes.taken} processes at once, and further ones wait until others have ended: ` +
    `the limits of open files (ulimit -n) and processes (ulimit -u) say how many there may be`;
  tell(run, { type: "note", at: Date.now(), path, level: "warning", code: "processes-wait", message });
}

interface Permitted {
  readonly log: StepLog;
  readonly permit: Permit;
}

async function runTold(run: Run, prepared: PreparedProcess, { log, permit }: Permitted): Promise<ProcessEnd> {
  const { path, program, command, workDir, env, places, cancelTimeoutMs } = prepared;
  const { cookie, outerCookie, hurry } = run;
  // Steps that run at the same time must not take each other's processes for what they left behind.
  const stepCookie = `${cookie}:${path}`;
  const graceMs = Math.min(run.graceMs, cancelTimeoutMs ?? Number.POSITIVE_INFINITY);
  const search = { path: env["PATH"] === undefined ? undefined : revealString(env["PATH"]), workDir };
  const tools = toolsOf(program, search);
  const envDeniedCount = countDenied(run, env);
  tell(run, { type: "process-starting", at: Date.now(), path, command, workDir, env, envDeniedCount, tools, places });
  const started = prepared.client ?? prepared;
  const plan = {
    program,
    command: started.command.map(revealString),
    workDir: started.workDir,
    env: processEnv(started.env, [...(outerCookie === undefined ? [] : [outerCookie]), cookie, stepCookie].join(",")),
    cookie: stepCookie,
    graceMs,
    hurry,
    log,
    pipes: run.pipes,
    spawner: run.spawner,
    starts: run.starts,
    permit,
    onRefused: () => noteWait(run, path),
    sendSignal: prepared.client?.sendSignal,
    keep: run.left?.keep,
    onStarted: (pid: number) => {
      run.state.since ??= { lastPid: pid - 1, atMs: Date.now() };
      tell(run, { type: "process-started", at: Date.now(), path, pid });
    },
  };
  return runProcess(plan, run.signal);
}

function processEnv(env: EnvironmentRecord, cookie: string): Record<string, string> {
  const result = Object.create(null) as Record<string, string>;
  for (const name of Object.keys(env)) result[name] = revealString(env[name] as RuntimeString);
  result[COOKIE_VARIABLE] = cookie;
  return result;
}
