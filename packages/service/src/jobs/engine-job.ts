import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunOptions } from "@steps/engine";
import { ambientEnvironment, logLevel, markVariables } from "@steps/engine/environment";
import { createObject, type Job, revealString, type RuntimeString } from "@steps/model";
import { NAME_PATTERN } from "@steps/model/definition";
import type { JobSubmission } from "../job-submission.ts";
import { VARIABLES_FOLDER } from "./job-folder.ts";

/** A job for the engine, and all that has to be masked in what is said of it. */
export interface EngineJob {
  readonly options: RunOptions;
  readonly maskedValues: readonly string[];
  /** The lines that head the sections of the log, by the names of the job's own steps. */
  readonly sections: Readonly<Record<string, string>>;
}

export interface EngineJobOptions {
  /** The environment from which the ambient variables are taken. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The job's folder; variables that are files are written below it. */
  readonly folder: string;
  readonly graceMs: number;
  readonly maxLogBytes: number;
  readonly hurry: AbortSignal;
}

const MAX_FILE_NAME = 200;

/**
 * Completes a submitted job for the engine. Variables that are masked, or secret by GitLab's definition, are marked, in the
 * environment too. @throws if a variable's file cannot be written
 */
export function createEngineJob(submission: JobSubmission, options: EngineJobOptions): EngineJob {
  const { folder, maxLogBytes, hurry } = options;
  const { job, timeoutMs, graceMs = options.graceMs, isLenient, notes, tokenPrefixes, sections = {} } = submission;
  const variables = new Map(submission.variables.map((variable) => [variable.key, variable]));
  const values = createObject([...variables.values()].map(({ key, value }) => [key, value] as const));
  const { maskedValues: found, ...marked } = markVariables(
    {
      vars: values,
      env: { ...ambientEnvironment(options.env), ...logLevel(values, options.env), ...job.env },
      offeredEnv: job.offeredEnv ?? {},
    },
    submission.variables.flatMap(({ key, isMasked }) => (isMasked ? [key] : [])),
  );
  const vars = createObject<RuntimeString>(Object.entries(marked.vars));
  for (const { key, value, isFile } of variables.values()) {
    // The path of a file is no secret, what stands in it is.
    if (isFile) vars[key] = writeVariable(folder, key, value);
  }
  const granted = Object.values(job.grants ?? {}).map(revealString);
  const maskedValues = [...(job.maskedValues ?? []), ...granted, ...found];
  // One step may use all of the job's share.
  const logLimits = { stepBytes: maxLogBytes, jobBytes: maxLogBytes };
  const complete: Job = { ...job, ...marked, entry: "service", vars, maskedValues, baseDir: job.workDir };
  const given = { timeoutMs, graceMs, hurry, logLimits, isLenient, notes, tokenPrefixes };
  return { options: { job: complete, ...given }, maskedValues, sections };
}

function writeVariable(folder: string, key: string, value: string): string {
  const dir = join(folder, VARIABLES_FOLDER);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  // GitLab's runner hands over whatever names its variables have.
  const isName = NAME_PATTERN.test(key) && key.length <= MAX_FILE_NAME;
  const path = join(dir, isName ? key : `.${createHash("sha256").update(key).digest("hex")}`);
  writeFileSync(path, value, { mode: 0o600, flag: "wx" });
  return path;
}
