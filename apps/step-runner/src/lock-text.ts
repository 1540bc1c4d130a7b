import type { CommandLine } from "@steps/console";
import {
  type CheckedStep,
  type CheckedTree,
  CompileError,
  type Engine,
  formatLock,
  jobVariables,
  type LockedComponent,
  lockedOf,
} from "@steps/engine";
import { listJobs } from "@steps/gitlab-ci";
import { type Diagnostic, hasErrors, type StepReference } from "@steps/model";
import { showDiagnostics } from "./diagnose.ts";
import { readSource } from "./read-source.ts";
import { openEngine } from "./open-engine.ts";
import { readJob } from "./read-job.ts";
import { isWorkflow } from "./is-workflow.ts";
import { readTextOrReference, readWorkflow, type TextInput } from "./read-input.ts";
import { workflowJobNames } from "./read-workflow-job.ts";
import { StopSignals } from "./signals.ts";
import { isCiFile } from "./validate/find-files.ts";

/** The lock of everything that the arguments name. `undefined` if something is wrong, which was shown. */
export async function lockText(
  line: CommandLine,
): Promise<{ readonly text: string; readonly count: number } | undefined> {
  await using engine = openEngine(line);
  using stop = new StopSignals();
  const components = new Map<string, LockedComponent>();
  let isWhole = true;
  for (const input of readInputs(line)) {
    const tree = await checkInput(line, input, { engine, signal: stop.signal });
    if (tree === undefined) isWhole = false;
    else for (const component of componentsOf(tree.root)) components.set(JSON.stringify(component), component);
  }
  if (!isWhole) return undefined;
  return { text: formatLock([...components.values()]), count: components.size };
}

type LockInput = TextInput | StepReference;

function readInputs(line: CommandLine): readonly LockInput[] {
  const { positionals } = line;
  if (positionals.length === 0) return [readTextOrReference(line)];
  return positionals.flatMap((path) => {
    const isWhole = line.string("job-name") === undefined;
    if (isWhole && isWorkflow(line, path)) {
      return workflowJobNames(line, path).map((name) => readWorkflow(line, path, name));
    }
    if (isWhole && isCiFile(path)) return readJobs(line, path);
    const alone: CommandLine = { ...line, positionals: [path] };
    return [readTextOrReference(alone)];
  });
}

function readJobs(line: CommandLine, path: string): TextInput[] {
  const { jobs, diagnostics } = listJobs(readSource(path));
  if (jobs.length === 0) showDiagnostics(line, diagnostics);
  return jobs.map((name) => {
    const read = readJob(line, path, name);
    const { specDefinition, positionOf } = read?.job ?? {};
    return { name: `${path} ${name}`, specDefinition, positionOf, baseDir: read?.workDir ?? process.cwd() };
  });
}

async function checkInput(
  line: CommandLine,
  input: LockInput,
  { engine, signal }: { readonly engine: Engine; readonly signal: AbortSignal },
): Promise<CheckedTree | undefined> {
  const options = { signal, isLenient: line.boolean("lenient"), vars: jobVariables(process.env) };
  try {
    const tree = await check(engine, input, options);
    if (tree === undefined) return undefined;
    showDiagnostics(line, [...tree.diagnostics, ...unlocked(tree.root)]);
    return hasErrors(tree.diagnostics) ? undefined : tree;
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    showDiagnostics(line, error.diagnostics);
    return undefined;
  }
}

async function check(
  engine: Engine,
  input: LockInput,
  options: Parameters<Engine["check"]>[1],
): Promise<CheckedTree | undefined> {
  if ("kind" in input) return engine.check({ reference: input, baseDir: process.cwd() }, options);
  const { specDefinition } = input;
  return specDefinition === undefined ? undefined : engine.check({ ...input, specDefinition }, options);
}

function unlocked(step: CheckedStep): Diagnostic[] {
  const inner = step.steps.flatMap(unlocked);
  if (step.state !== "dynamic") return inner;
  const message = `Not locked, since nobody knows yet what it names: ${step.reference}`;
  return [{ severity: "warning", code: "not-locked", message }, ...inner];
}

function componentsOf({ component, steps }: CheckedStep): LockedComponent[] {
  const own = component === undefined ? undefined : lockedOf(component);
  return [...(own === undefined ? [] : [own]), ...steps.flatMap(componentsOf)];
}
