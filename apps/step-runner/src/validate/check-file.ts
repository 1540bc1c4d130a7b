import {
  type Compiled,
  compileInput,
  compilePrototext,
  type CompileOptions,
  compileStepFile,
  compileStepList,
} from "@steps/compiler";
import { MAX_TEXT_LENGTH } from "@steps/source/limits";
import { UsageError } from "@steps/console";
import { compileAction, compileWorkflowJob, isWorkflowText, listWorkflowJobs } from "@steps/github-compiler";
import { checkWorkflow } from "@steps/github-compiler/pipeline";
import { checkJobs as checkAllJobs, checkRules, compileJob } from "@steps/gitlab-ci";
import { jobNamed, type LoadedPipeline } from "@steps/gitlab-ci/load";
import { messageOf } from "@steps/model";
import type { Diagnostic, Source } from "@steps/model/diagnostic";
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Checked } from "../reports/checked.ts";
import { callProblems } from "../input/call-problems.ts";
import { placeOf } from "../input/load-ci-file.ts";
import { loadSource, type LoadSourceOptions } from "../input/load-source.ts";
import { hasTwoDocuments } from "../files/has-two-documents.ts";
import { readSource } from "../files/read-source.ts";
import { isActionFile, isCiFile, isMessageFile, isStepFile, isWorkflowFile } from "../files/find-files.ts";

export interface CheckOptions extends CompileOptions {
  /** The name of the only job of a CI file to check, whatever the file is called. */
  readonly jobName?: string | undefined;
  /** The source of a CI file's includes, and its variables. */
  readonly loading: LoadSourceOptions & Parameters<typeof placeOf>[0];
  /** The inputs of a CI file, as texts. */
  readonly inputs: Readonly<Record<string, string>>;
}

/** Reads a file and says what is wrong with it: a step file, a list of steps, JSON, or the jobs of a CI file. */
export async function checkFile(path: string, options: CheckOptions): Promise<Checked> {
  const source = readFile(path);
  if ("code" in source) return { name: path, diagnostics: [source] };
  const github = checkGithubFile(source, options);
  if (github !== undefined) return { name: path, diagnostics: github };
  const isJobFile = isCiFile(path) || (options.jobName !== undefined && !isStepFile(path));
  if (isJobFile) return { name: path, diagnostics: await checkJobs(source, options) };
  const compiled = readerOf(path)(source, compileOptions(options));
  const folder = dirname(resolve(path));
  const dirs = hasTwoDocuments(source) ? [folder] : [...new Set([process.cwd(), folder])];
  return { name: path, diagnostics: await withCalls(compiled, dirs, options) };
}

/** Checks a text that is in no file: standard input, an argument, the variable STEPS. */
export async function checkText(source: Source, options: CheckOptions): Promise<Checked> {
  const compile = source.name === "STEPS" ? compileStepList : compileInput;
  const compiled: Compiled = compile(source, compileOptions(options));
  return { name: source.name, diagnostics: await withCalls(compiled, [process.cwd()], options) };
}

async function withCalls(
  compiled: Compiled,
  dirs: readonly string[],
  { isLenient }: CheckOptions,
): Promise<readonly Diagnostic[]> {
  return [...compiled.diagnostics, ...(await callProblems(compiled, { dirs, isLenient }))];
}

function compileOptions({ isLenient, requiresTypes, unknownNames }: CheckOptions): CompileOptions {
  return { isLenient, requiresTypes, unknownNames };
}

// A file that cannot be read is one of many: the others are looked at all the same.
function readFile(path: string): Source | Diagnostic {
  try {
    const { size } = statSync(path);
    if (size <= 4 * MAX_TEXT_LENGTH) return readSource(path);
    return problem("text-too-large", `The file has ${size} bytes`);
  } catch (cause) {
    return problem("step-unavailable", `Cannot read the file: ${messageOf(cause)}`);
  }
}

function problem(code: "step-unavailable" | "text-too-large", message: string): Diagnostic {
  return { severity: "error", code, message };
}

async function checkJobs(
  source: Source,
  { jobName, loading, inputs, unknownNames, isLenient }: CheckOptions,
): Promise<readonly Diagnostic[]> {
  const place = placeOf(loading, source.name);
  const { predefined, overrides, workDir } = place;
  const optionsOf = (name: string) => ({
    predefined: { ...predefined, CI_JOB_NAME: name },
    overrides,
    unknownNames,
  });
  const { pipeline, readable, diagnostics } = await loadSource(loading, source, { ...place, inputs });
  // Local steps are those of the project, whichever file names them.
  const ofCalls = async (of: LoadedPipeline): Promise<readonly Diagnostic[]> => {
    const named = [...of.groups].filter(([, [job]]) => job?.own.has("run") === true);
    const compiled = named.map(([name]) => compileJob(of, { ...optionsOf(name), jobName: name }).job ?? {});
    return (await Promise.all(compiled.map((job) => callProblems(job, { dirs: [workDir], isLenient })))).flat();
  };
  if (jobName !== undefined) {
    if (pipeline === undefined) return withoutRepeated(diagnostics);
    const chosen = only(pipeline, jobName);
    const ofJob = compileJob(pipeline, { ...optionsOf(jobName), jobName }).diagnostics;
    return withoutRepeated([...diagnostics, ...ofJob, ...(await checkRules(chosen)), ...(await ofCalls(chosen))]);
  }
  if (pipeline?.groups.size === 0 && diagnostics.length === 0) throw new UsageError(`"${source.name}" has no job`);
  const ofJobs = readable === undefined ? [] : checkAllJobs(readable, optionsOf);
  const ofRules = readable === undefined ? [] : await checkRules(readable);
  const ofAllCalls = readable === undefined ? [] : await ofCalls(readable);
  return withoutRepeated([...diagnostics, ...ofJobs, ...ofRules, ...ofAllCalls]);
}

function only(pipeline: LoadedPipeline, jobName: string): LoadedPipeline {
  const job = jobNamed(pipeline, jobName);
  const members = job === undefined ? [] : [[job.groupName, [job]] as const];
  return { ...pipeline, groups: new Map(members) };
}

function checkGithubFile(source: Source, { requiresTypes, jobName }: CheckOptions): readonly Diagnostic[] | undefined {
  if (isActionFile(source.name) && jobName === undefined) {
    return compileAction(source, { advisesAuthor: requiresTypes === true }).diagnostics;
  }
  const isOther = isCiFile(source.name) || isStepFile(source.name) || isMessageFile(source.name);
  if (!isWorkflowFile(source.name) && (isOther || !isWorkflowText(source))) return undefined;
  const { jobs } = listWorkflowJobs(source);
  // The steps of a matrix are the same for all its values.
  const chosen = jobs.find(({ id, instances }) => id === jobName || instances.some(({ choice }) => choice === jobName));
  if (chosen === undefined && jobName !== undefined) return compileWorkflowJob(source, { jobName }).diagnostics;
  return withoutRepeated(checkWorkflow(source, (id) => chosen === undefined || id === chosen.id));
}

// A fault of the file itself is reported for each of its jobs.
function withoutRepeated(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const kept = new Map(
    diagnostics.map(({ position, severity, code, message }, index) => [
      JSON.stringify([position?.source.name, position?.offset, severity, code, message]),
      diagnostics[index] as Diagnostic,
    ]),
  );
  const files = [...new Set(diagnostics.map(({ position }) => position?.source.name))];
  const rank = ({ position }: Diagnostic): number =>
    position === undefined ? -1 : files.indexOf(position.source.name);
  const offset = ({ position }: Diagnostic): number => position?.offset ?? -1;
  return [...kept.values()].toSorted((a, b) => rank(a) - rank(b) || offset(a) - offset(b));
}

function readerOf(path: string): typeof compileInput {
  if (isMessageFile(path)) return compilePrototext;
  return isStepFile(path) ? compileStepFile : compileInput;
}
