import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { FunctionTable } from "@steps/expression";
import { mapObject, revealString, type RuntimeString, sensitive } from "@steps/model";
import type { ExecDefinition, Spec } from "@steps/model/definition";
import type { EnvironmentRecord } from "@steps/model/environment";
import type { LogSummary } from "@steps/model/event";
import { acceptExports } from "../files/accept-exports.ts";
import { signalWithTimeout } from "../outcome/cancelled.ts";
import { CONTEXT_VARIABLE, contextText } from "../files/context-file.ts";
import { ExecuteError } from "../outcome/execute-error.ts";
import { createExpander } from "../values/expander.ts";
import { readExports } from "../files/exports.ts";
import { type Level, placesOf, scopeOf } from "../run/level.ts";
import { lookupProgram } from "../process/lookup-program.ts";
import { outcomeOfError } from "../outcome/outcome.ts";
import { type Outputs, readDelegatedOutputs, readOutputs } from "../files/outputs.ts";
import { placeScript } from "../files/place-script.ts";
import { readStepFile } from "../files/read-step-file.ts";
import { type Run, tell } from "../run/run.ts";
import type { ProcessEnd } from "../process/run-process.ts";
import { secretWithin } from "../values/secrets.ts";
import { leakReporter, type ReportLeak } from "../values/report-leak.ts";
import { outcomeOfProcess } from "../process/outcome-of-process.ts";
import { type ProcessClient, startProcess } from "../run/start-process.ts";
import type { StepEnd } from "../outcome/step-end.ts";

/** A command to run. */
export interface ExecCall {
  readonly spec: Spec;
  readonly definition: ExecDefinition;
  readonly hasOpenOutputs: boolean;
  /** True for the built-in step that runs a text in a shell. */
  readonly isScript: boolean;
  readonly isBuiltin: boolean;
  /** Functions that the command may call besides those of every expression. */
  readonly functions: FunctionTable | undefined;
}

/** Runs the command of a definition and reads what it wrote to its output and export files. */
export async function runExec(run: Run, level: Level, call: ExecCall): Promise<StepEnd> {
  const prepared = prepare(run, level, call);
  const log = run.hooks.openLog(level.path);
  const stop = signalWithTimeout(run.signal, call.definition.timeoutMs);
  const timed = { ...run, signal: stop.signal };
  let end: ProcessEnd;
  let summary: LogSummary | undefined;
  try {
    const { cancelTimeoutMs } = call.definition;
    end = await startProcess(
      timed,
      { ...prepared, path: level.path, places: placesOf(run, level), cancelTimeoutMs },
      log,
    );
  } finally {
    stop.release();
    summary = await log.close();
  }
  return finish(timed, level, call, { end, summary });
}

interface Prepared {
  readonly program: string;
  readonly command: readonly RuntimeString[];
  readonly workDir: string;
  readonly env: Readonly<Record<string, RuntimeString>>;
  /** The command that is started when the events tell another one. Absent when both are the same. */
  readonly client?: ProcessClient;
}

function prepare(run: Run, level: Level, call: ExecCall): Prepared {
  const { definition, isScript, functions } = call;
  const { path: at, source } = level;
  const expander = createExpander(run, () => scopeOf(run, level), { path: at, source, functions });
  const written = definition.command.map((item, index) =>
    expander.text(item, { what: `exec: command[${index}]`, pointer: `/definition/exec/command/${index}` }),
  );
  const { command, started, exposed } = placeScript(written, level, { isScript });
  const place = { what: "exec: work_dir", pointer: "/definition/exec/workDir" };
  const workDir = findWorkDir(startOf(run, level, call), expander.text(definition.workDir ?? "", place));
  const env = environmentOf(run, level, { ...call, workDir });
  const [name = ""] = command;
  const path = env["PATH"] === undefined ? undefined : revealString(env["PATH"]);
  const program = lookupProgram({ name: revealString(name), shownName: String(name), path, workDir });
  if (exposed.length > 0) noteExposed(run, level.path, exposed);
  return {
    program,
    command,
    workDir,
    env,
    ...(started === command ? {} : { client: { command: started, workDir, env } }),
  };
}

// A secret that an author wrote as an argument cannot reach the program in another way, so it is only noted.
function noteExposed(run: Run, path: string, exposed: readonly number[]): void {
  const which = exposed.map((index) => `command[${index}]`).join(", ");
  const message =
    `exec: ${which} holds a secret, and every process of this machine can read the arguments of another; ` +
    `give it to the program by its environment or by a file`;
  tell(run, { type: "note", at: Date.now(), path, level: "info", code: "secret-in-argument", message });
}

// In the blueprint a command starts where its step file is (conformance section 20 C1); a built-in step has no such place.
function startOf(run: Run, level: Level, { definition, isBuiltin }: ExecCall): string {
  return isOfBlueprint(run, definition) && !isBuiltin ? level.dir : run.job.workDir;
}

function isOfBlueprint(run: Run, { isBlueprint }: ExecDefinition): boolean {
  const compat = run.job.mode?.compat;
  return compat === "blueprint" || (compat === "auto" && isBlueprint === true);
}

function environmentOf(run: Run, level: Level, call: ExecCall & { readonly workDir: string }): EnvironmentRecord {
  const isBlueprint = isOfBlueprint(run, call.definition);
  // The blueprint's processes find their files by these names.
  const files: Record<string, RuntimeString> = isBlueprint
    ? { OUTPUT_FILE: level.files.outputFile(), ENV_FILE: level.files.exportFile() }
    : {};
  const flat = level.environment.flatten();
  const env = isBlueprint ? { ...files, ...flat } : flat;
  if (call.definition.hasContextFile !== true && !isBlueprint) return env;
  const text = contextText(level, env, { workDir: call.workDir, seesCallerInputs: call.hasOpenOutputs });
  return { ...env, [CONTEXT_VARIABLE]: level.files.privateFile("context", text, level.path) };
}

function findWorkDir(jobDir: string, written: RuntimeString): string {
  const workDir = resolve(jobDir, revealString(written));
  const stat = workDir.includes("\0") ? undefined : statSync(workDir, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) return workDir;
  const shown = typeof written === "string" ? workDir : String(written);
  throw new ExecuteError("WORK_DIR_MISSING", `exec: the working directory "${shown}" does not exist`);
}

interface Ended {
  readonly end: ProcessEnd;
  readonly summary: LogSummary | undefined;
}

function finish(run: Run, level: Level, call: ExecCall, { end, summary }: Ended): StepEnd {
  const { exitCode, signal } = end;
  const process = {
    ...(exitCode === undefined ? {} : { exitCode }),
    ...(signal === undefined ? {} : { signal }),
    ...(summary === undefined ? {} : { log: summary }),
  };
  const outcome = outcomeOfProcess(end, run.signal);
  if (outcome) return { outcome, outputs: {}, exports: {}, process };
  try {
    const onLeak = leakReporter(run, level.path);
    const outputs = outputsOf(level, call, onLeak);
    const exports = acceptExports(run, level, exportsOf(level, onLeak));
    if (Object.keys(exports).length > 0) level.environment.export(exports);
    return { outcome: { status: "success" }, outputs, exports, process };
  } catch (error) {
    return { outcome: outcomeOfError(error, "run"), outputs: {}, exports: {}, process };
  }
}

const nothing = new Uint8Array();

function outputsOf(level: Level, { spec, hasOpenOutputs }: ExecCall, onLeak: ReportLeak | undefined): Outputs {
  const { outputFile } = level.files.created;
  const file = outputFile === undefined ? { content: nothing } : readStepFile(outputFile);
  if ("problem" in file) throw new ExecuteError("OUTPUT_INVALID", `outputs: ${file.problem}`);
  if (spec.outputs === "delegate") return readDelegatedOutputs(file.content);
  const { granted } = level;
  return readOutputs(file.content, hasOpenOutputs ? { ...spec, hasOpenOutputs } : spec, { granted, onLeak });
}

/** The variables whose values are secret, whoever exports them; the only other place to say so would be the next step. */
const SECRET_EXPORTS: ReadonlySet<string> = new Set(["DOCKER_AUTH_CONFIG"]);

function exportsOf(level: Level, onLeak: ReportLeak | undefined): Readonly<Record<string, RuntimeString>> {
  const { exportFile } = level.files.created;
  if (exportFile === undefined) return {};
  const file = readStepFile(exportFile);
  if ("problem" in file) throw new ExecuteError("EXPORT_INVALID", `exports: ${file.problem}`);
  return mapObject(readExports(file.content), (text, name): RuntimeString => {
    if (SECRET_EXPORTS.has(name)) return sensitive(text) as RuntimeString;
    const secret = typeof text === "string" ? secretWithin(text, level.granted) : undefined;
    if (secret === undefined) return text;
    const problem = `export "${name}": it holds the secret "${secret}" and is not marked with "sensitive": true`;
    if (onLeak === undefined) throw new ExecuteError("EXPORT_INVALID", `exports: ${problem}`);
    onLeak(problem);
    return sensitive(text) as RuntimeString;
  });
}
