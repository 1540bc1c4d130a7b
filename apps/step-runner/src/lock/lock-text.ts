import { type CheckedStep, type CheckedTree, CompileError, type Engine } from "@steps/engine";
import { formatLock, type LockedComponent, lockedOf } from "@steps/engine/components";
import { jobVariables } from "@steps/engine/environment";
import { type Diagnostic, hasErrors } from "@steps/model/diagnostic";
import { showDiagnostics } from "../input/diagnose.ts";
import { type EngineFlagOptions, openEngine } from "../open-engine.ts";
import { type CiFile, findCiFile, hasCiFile, loadCiFile } from "../input/load-ci-file.ts";
import { readJobOf } from "../input/read-job.ts";
import { isWorkflow } from "../input/is-workflow.ts";
import { readTextOrReference, readWorkflow, type TextOptions } from "../input/read-input.ts";
import { StopSignals } from "../signals.ts";
import { isCiFile } from "../files/find-files.ts";
import type { LockInput, LockInputs, Locking } from "./lock-inputs.ts";
import { lockWorkflow } from "./lock-workflow.ts";

/** The lock of everything that is named. `undefined` if something is wrong, which was shown. */
export async function lockText(
  options: TextOptions & EngineFlagOptions,
  named: readonly string[],
): Promise<{ readonly text: string; readonly count: number } | undefined> {
  await using engine = openEngine(options);
  using stop = new StopSignals();
  const components = new Map<string, LockedComponent>();
  let isWhole = true;
  const locking = { engine, signal: stop.signal };
  const { inputs, included } = await readInputs(options, named, locking);
  for (const component of included) components.set(JSON.stringify(component), component);
  for (const input of inputs) {
    const tree = await checkInput(options, input, locking);
    if (tree === undefined) isWhole = false;
    else for (const component of componentsOf(tree.root)) components.set(JSON.stringify(component), component);
  }
  if (!isWhole) return undefined;
  return { text: formatLock([...components.values()]), count: components.size };
}

async function readInputs(options: TextOptions, named: readonly string[], locking: Locking): Promise<LockInputs> {
  const paths = named.length === 0 && process.env["STEPS"] === undefined && hasCiFile() ? [findCiFile()] : named;
  if (paths.length === 0) return { inputs: [await readTextOrReference(options, undefined)], included: [] };
  const all: LockInputs[] = [];
  for (const path of paths) all.push(await readNamed(options, path, locking));
  return { inputs: all.flatMap(({ inputs }) => inputs), included: all.flatMap(({ included }) => included) };
}

async function readNamed(options: TextOptions, path: string, locking: Locking): Promise<LockInputs> {
  if (isWorkflow(options, path)) {
    if (options.jobName === undefined) return lockWorkflow(options, path, locking);
    return { inputs: [readWorkflow(options, path)], included: [] };
  }
  if (!isCiFile(path)) return { inputs: [await readTextOrReference(options, path)], included: [] };
  return readJobs(options, path);
}

async function readJobs(options: TextOptions, path: string): Promise<LockInputs> {
  const file = await loadCiFile(options, path);
  // Its mistakes were shown, and nothing is locked.
  if (file === undefined) {
    return { inputs: [{ name: path, specDefinition: undefined, baseDir: process.cwd() }], included: [] };
  }
  const names = options.jobName === undefined ? stepJobs(file) : [options.jobName];
  const inputs = names.map((name) => {
    const { specDefinition, positionOf } = readJobOf({}, file, name)?.job ?? {};
    return { name: `${path} ${name}`, specDefinition, positionOf, baseDir: file.workDir };
  });
  return { inputs, included: file.resources.flatMap((resource) => lockedOf(resource) ?? []) };
}

// A job that starts another pipeline names no steps.
function stepJobs({ pipeline: { groups } }: CiFile): readonly string[] {
  return [...groups].flatMap(([name, [job]]) => (job?.own.has("trigger") === true ? [] : [name]));
}

async function checkInput(
  { lenient }: TextOptions,
  input: LockInput,
  { engine, signal }: Locking,
): Promise<CheckedTree | undefined> {
  const options = { signal, isLenient: lenient, vars: jobVariables(process.env) };
  try {
    const tree = await check(engine, input, options);
    if (tree === undefined) return undefined;
    showDiagnostics({}, [...tree.diagnostics, ...unlocked(tree.root)]);
    return hasErrors(tree.diagnostics) ? undefined : tree;
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    showDiagnostics({}, error.diagnostics);
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
