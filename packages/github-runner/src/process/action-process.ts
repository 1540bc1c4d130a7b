import {
  endWithout,
  lookupProgram,
  outcomeOfAbort,
  outcomeOfProcess,
  placesOf,
  type ProcessEnd,
  type Run,
  startProcess,
  type StepEnd,
  StepFiles,
} from "@steps/executor/kit";
import { createInterpreter, isBlockedVariable } from "@steps/github-language/commands";
import {
  createObject,
  mapObject,
  type Outcome,
  revealString,
  type RuntimeString,
  type RuntimeValue,
} from "@steps/model";
import type { EnvironmentRecord } from "@steps/model/environment";
import type { LogSummary } from "@steps/model/event";
import { type ActionScope, githubOf } from "../job/action-scope.ts";
import type { ActionCommand } from "./action-command.ts";
import { blockedMessage, CommandEffects } from "./command-effects.ts";
import type { CommandFiles, FileCommands } from "../job/command-files.ts";
import { filteredLog } from "./filtered-log.ts";
import { addSummary } from "./summary.ts";

/** A process of an action, or of a script among actions. */
export interface ActionProcess {
  readonly scope: ActionScope;
  /** The value of `GITHUB_ACTION`. */
  readonly id: string;
  /** The variables that only this process gets: `INPUT_*`, `STATE_*`, those of services. */
  readonly env: EnvironmentRecord;
  /** The state that phases of the step leave for later ones. */
  readonly state: Map<string, string>;
  /** The absolute folder that the trace calls `step_dir`. */
  readonly stepDir: string;
  /** Makes the command, once the whole environment is known. */
  readonly command: (env: EnvironmentRecord) => ActionCommand | Promise<ActionCommand>;
}

/** Runs a process, takes the commands that it prints and writes to its files, and carries them out. */
export async function runActionProcess(run: Run, process: ActionProcess): Promise<StepEnd> {
  if (run.signal.aborted) return endWithout(outcomeOfAbort(run.signal.reason, "exec: "));
  const { scope, state } = process;
  const { job, path } = scope;
  const files = job.commandFiles(run.branch);
  files.prepare();
  const effects = new CommandEffects(run, scope, state);
  const env = environmentOf(process, { files, paths: run.branch === undefined ? job.paths : [] });
  const prepared = await process.command(env);
  if (prepared.toHost !== undefined) effects.toHost = prepared.toHost;
  let written: FileCommands | undefined;
  const log = filteredLog(
    run.hooks.openLog(path),
    createInterpreter({
      sink: effects,
      matchers: job.matchers,
      allowsUnsecure: env["ACTIONS_ALLOW_UNSECURE_COMMANDS"] === "true",
      isDebug: job.host.isDebug || job.description.runner["debug"] === "1",
      groupStyle: job.host.groupStyle,
      now: Date.now,
    }),
    {
      refusal: () => effects.refusal,
      ending: () => {
        written = files.take();
        return refusals(written);
      },
    },
  );
  let end: ProcessEnd;
  let summary: LogSummary | undefined;
  try {
    end = await start(run, process, { prepared, log });
  } finally {
    summary = await log.close();
    await prepared.cleanUp?.();
  }
  return finish(run, { end, summary, effects, written: written ?? files.take(), process });
}

// The refused commands of files are in the log, as those that a process prints.
function refusals({ env, problems }: FileCommands): readonly string[] {
  if (env.length === 0 && problems.length === 0) return [];
  const blocked = env.filter(([name]) => isBlockedVariable(name)).map(([name]) => blockedMessage(name));
  return [...blocked, ...problems].map((message) => `##[error]${message}`);
}

function start(
  run: Run,
  { scope: { path }, stepDir }: ActionProcess,
  { prepared, log }: { readonly prepared: ActionCommand; readonly log: ReturnType<typeof filteredLog> },
): Promise<ProcessEnd> {
  const { command, workDir, env, client } = prepared;
  const name = String(command[0] ?? "");
  const searched = env["PATH"] === undefined ? undefined : String(env["PATH"]);
  const program = prepared.program ?? lookupProgram({ name, shownName: name, path: searched, workDir });
  const places = placesOf(run, { dir: stepDir, files: new StepFiles(run.jobTmp) });
  return startProcess(run, { path, program, command, workDir, env, places, client }, log);
}

/** The environment in GitHub's order: a later variable wins. */
function environmentOf(
  process: ActionProcess,
  { files, paths }: { readonly files: CommandFiles; readonly paths: readonly string[] },
): EnvironmentRecord {
  const { scope, id } = process;
  const { job, environment } = scope;
  const env = Object.assign(createObject<RuntimeString>(), environment.flatten(), process.env);
  const path = env["PATH"];
  const prefix = paths.join(":");
  if (prefix !== "" && typeof path === "string" && path !== prefix && !path.startsWith(`${prefix}:`)) {
    env["PATH"] = `${prefix}:${path}`;
  }
  const { description } = job;
  Object.assign(env, description.environment(githubOf(scope, id), description.runner), files.env);
  if (process.env["ACTIONS_RUNTIME_URL"] !== undefined)
    withoutProxy(env, revealString(process.env["ACTIONS_RUNTIME_URL"]));
  env["GITHUB_ACTIONS"] = "true";
  env["CI"] ??= "true";
  return env;
}

// A proxy has no way to a service on this machine's loopback.
function withoutProxy(env: Record<string, RuntimeString>, url: string): void {
  if (!Object.keys(env).some((name) => /^https?_proxy$/i.test(name))) return;
  const { hostname } = new URL(url);
  for (const name of ["NO_PROXY", "no_proxy"]) {
    const known = env[name] === undefined ? "" : revealString(env[name]);
    env[name] = known === "" ? hostname : `${known},${hostname}`;
  }
}

interface Ended {
  readonly end: ProcessEnd;
  readonly summary: LogSummary | undefined;
  readonly effects: CommandEffects;
  readonly written: FileCommands;
  readonly process: ActionProcess;
}

function finish(run: Run, { end, summary, effects, written, process }: Ended): StepEnd {
  for (const [name, value] of written.env) effects.setEnv(name, value);
  for (const [name, value] of written.output) effects.setOutput(name, value);
  for (const [name, value] of written.state) effects.saveState(name, value);
  for (const path of written.path) effects.addPath(path);
  for (const problem of written.problems) {
    effects.error(problem);
    effects.problem(problem);
  }
  const { scope } = process;
  if (written.summary !== "") addSummary(run, scope.job, written.summary);
  if (written.summaryProblem !== undefined) effects.error(`There is no summary: ${written.summaryProblem}`);
  const exports = effects.export();
  const { exitCode, signal } = end;
  const { annotations, problems } = effects;
  return {
    outcome: outcomeOf(run, end, problems),
    outputs: mapObject(effects.outputs, (value): RuntimeValue => value),
    exports,
    process: {
      exitCode,
      signal,
      log: summary,
    },
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(written.summary === "" ? {} : { summary: written.summary }),
  };
}

function outcomeOf(run: Run, end: ProcessEnd, problems: readonly string[]): Outcome {
  const outcome = outcomeOfProcess(end, run.signal);
  if (outcome?.error?.code === "EXIT_STATUS" && end.exitCode === 127) {
    const message = `${outcome.error.message} (a program was not found: GitHub's machines have more installed)`;
    return { ...outcome, error: { ...outcome.error, message } };
  }
  if (outcome !== undefined) return outcome;
  const [problem] = problems;
  if (problem === undefined) return { status: "success" };
  return { status: "failure", error: { code: "WORKFLOW_COMMAND_INVALID", message: problem } };
}
