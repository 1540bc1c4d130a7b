import {
  inPlace,
  outcomeOfAbort,
  outcomeOfProcess,
  placesOf,
  type ProcessEnd,
  type Run,
  runToldStep,
  startProcess,
  type StepEnd,
  StepFiles,
  type StepLog,
  tell,
} from "@steps/executor/kit";
import { createObject, type Outcome, type RuntimeString } from "@steps/model";
import { emptySpec } from "@steps/model/definition";
import type { EnvironmentRecord } from "@steps/model/environment";

/** A command of a container engine that is a step of its own, before those of the job. */
export interface CliStep {
  /** The name that it is shown by: `Build an-action`. */
  readonly name: string;
  /** The absolute path of the program, then its arguments. */
  readonly command: readonly string[];
  /** The arguments as the trace shows them, without what differs from run to run; absent: as they are. */
  readonly shown?: readonly string[];
  /** The standard output is not logged. Default: it is. */
  readonly isQuiet?: boolean;
  readonly workDir: string;
  /** The environment of the client. */
  readonly env: EnvironmentRecord;
  /** The variables that the trace shows; absent: none. */
  readonly shownEnv?: EnvironmentRecord;
  /** The meaning of a failure: `the image cannot be built`. The exit code is put behind it. */
  readonly failure: string;
}

/** Runs a command in a record of its own with the phase `pre`. */
export function runCliStep(run: Run, step: CliStep): Promise<StepEnd> {
  const path = String(run.state.nextPhase++);
  return runToldStep(run, { path, name: step.name, phase: "pre" }, () => runCli(run, path, step));
}

async function runCli(run: Run, path: string, step: CliStep): Promise<StepEnd> {
  const { workDir, failure } = step;
  const [program = "", ...args] = step.command;
  const command = ["docker", ...(step.shown ?? args)];
  // Nobody has written it, and the paths in it are other ones in every run.
  const definition = { type: "exec", command: command.slice(0, 2), env: {} } as const;
  const specDefinition = { spec: emptySpec, definition };
  const { definitionDigest } = inPlace(specDefinition, { dir: workDir, root: undefined });
  const places = placesOf(run, { dir: workDir, files: new StepFiles(run.jobTmp) });
  const nothing = { inputs: {}, env: {} };
  const at = Date.now();
  tell(run, { type: "step-planned", at, path, specDefinition, definitionDigest, subpath: "", inputs: {}, invocation: nothing, definitionEnv: {}, places }); // prettier-ignore
  const log = run.hooks.openLog(path);
  const env = Object.assign(createObject<RuntimeString>(), step.env);
  const client = { command: ["docker", ...args], workDir, env };
  const ended = await startProcess(
    run,
    { path, program, command, workDir, env: step.shownEnv ?? {}, places, client },
    step.isQuiet === true ? withoutStdout(log) : log,
  );
  const summary = await log.close();
  const { exitCode, signal } = ended;
  const process = { exitCode, signal, log: summary };
  return { outcome: outcomeOf(run, ended, failure), outputs: {}, exports: {}, process };
}

function outcomeOf(run: Run, end: ProcessEnd, failure: string): Outcome {
  if (run.signal.aborted) return outcomeOfAbort(run.signal.reason);
  return outcomeOfProcess(end, run.signal, `${failure}: `) ?? { status: "success" };
}

function withoutStdout(log: StepLog): StepLog {
  return {
    write: (stream, chunk) => (stream === "stdout" ? undefined : log.write(stream, chunk)),
    close: () => log.close(),
  };
}
