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
import { checkJobs as checkAllJobs, checkRules, compileJob } from "@steps/gitlab-ci";
import { jobNamed, type LoadedPipeline } from "@steps/gitlab-ci/load";
import { messageOf } from "@steps/model";
import type { Diagnostic, Source } from "@steps/model/diagnostic";
import { statSync } from "node:fs";
import type { Checked } from "../reports/checked.ts";
import { placeOf } from "../input/load-ci-file.ts";
import { loadSource, type LoadSourceOptions } from "../input/load-source.ts";
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
  const { diagnostics } = readerOf(path)(source, options);
  return { name: path, diagnostics };
}

/** Checks a text that is in no file: standard input, an argument, the variable STEPS. */
export function checkText(source: Source, options: CheckOptions): Checked {
  const compiled: Compiled = source.name === "STEPS" ? compileStepList(source, options) : compileInput(source, options);
  return { name: source.name, diagnostics: compiled.diagnostics };
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

function problem(code: string, message: string): Diagnostic {
  return { severity: "error", code, message };
}

async function checkJobs(source: Source, { jobName, loading, inputs }: CheckOptions): Promise<readonly Diagnostic[]> {
  const place = placeOf(loading, source.name);
  const { predefined, overrides } = place;
  const optionsOf = (name: string) => ({ predefined: { ...predefined, CI_JOB_NAME: name }, overrides });
  const { pipeline, readable, diagnostics } = await loadSource(loading, source, { ...place, inputs });
  if (jobName !== undefined) {
    const ofJob = pipeline && compileJob(pipeline, { ...optionsOf(jobName), jobName }).diagnostics;
    const ofRules = pipeline && (await checkRules(only(pipeline, jobName)));
    return withoutRepeated([...diagnostics, ...(ofJob ?? []), ...(ofRules ?? [])]);
  }
  if (pipeline?.groups.size === 0 && diagnostics.length === 0) throw new UsageError(`"${source.name}" has no job`);
  const ofJobs = readable === undefined ? [] : checkAllJobs(readable, optionsOf);
  const ofRules = readable === undefined ? [] : await checkRules(readable);
  return withoutRepeated([...diagnostics, ...ofJobs, ...ofRules]);
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
  const { jobs, diagnostics } = listWorkflowJobs(source);
  const chosen = jobs.filter(({ id }) => jobName === undefined || id === jobName);
  if (chosen.length === 0 && jobName !== undefined) return compileWorkflowJob(source, { jobName }).diagnostics;
  const all = chosen.flatMap(({ id, instances }) => {
    // The steps of a matrix are the same for all its values.
    return compileWorkflowJob(source, { jobName: instances[0]?.choice ?? id }).diagnostics;
  });
  return withoutRepeated([...diagnostics, ...all]);
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
