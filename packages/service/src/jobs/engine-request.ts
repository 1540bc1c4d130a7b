import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ambientEnvironment, logLevel, markVariables, type RunRequest } from "@steps/engine";
import { createObject, mapObject, NAME_PATTERN, type RuntimeString, sensitive } from "@steps/model";
import type { JobSpec } from "../job-spec.ts";
import { VARIABLES_FOLDER } from "./job-folder.ts";

/** A job for the engine, and all that has to be masked in what is said of it. */
export interface EngineJob {
  readonly request: RunRequest;
  readonly secrets: readonly string[];
}

export interface EngineJobOptions {
  /** What the ambient part of the environment is taken from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The job's folder; variables that are files are written below it. */
  readonly folder: string;
  readonly graceMs: number;
  readonly maxLogBytes: number;
  readonly hurry: AbortSignal;
}

const MAX_FILE_NAME = 200;

/**
 * What the engine runs for a job. Variables that are masked, or secret by GitLab's definition, are marked, in the
 * environment too. @throws if a variable's file cannot be written
 */
export function createEngineJob(spec: JobSpec, options: EngineJobOptions): EngineJob {
  const { folder, graceMs, maxLogBytes, hurry } = options;
  const variables = new Map(spec.variables.map((variable) => [variable.key, variable]));
  const values = createObject([...variables.values()].map(({ key, value }) => [key, value] as const));
  const { secrets: found, ...marked } = markVariables(
    {
      vars: values,
      env: { ...ambientEnvironment(options.env), ...logLevel(values, options.env), ...spec.env },
      offeredEnv: spec.offeredEnv ?? {},
    },
    spec.variables.flatMap(({ key, isMasked }) => (isMasked ? [key] : [])),
  );
  const vars = createObject<RuntimeString>(Object.entries(marked.vars));
  for (const { key, value, isFile } of variables.values()) {
    // The path of a file is no secret, what stands in it is.
    if (isFile) vars[key] = writeVariable(folder, key, value);
  }
  const secrets = [...spec.secrets, ...Object.values(spec.grants ?? {}), ...found];
  const { source, specDefinition, positionOf, inputs, workDir, jobName, timeoutMs } = spec;
  const request: RunRequest = {
    entry: "service",
    source,
    specDefinition,
    inputs,
    ...marked,
    vars,
    workDir,
    baseDir: workDir,
    secrets,
    graceMs: spec.graceMs ?? graceMs,
    hurry,
    // One step may use all of the job's share.
    logLimits: { stepBytes: maxLogBytes, jobBytes: maxLogBytes },
    ...(positionOf === undefined ? {} : { positionOf }),
    ...(jobName === undefined ? {} : { jobName }),
    ...(spec.grants === undefined ? {} : { grants: mapObject(spec.grants, sensitive) }),
    ...(spec.mode === undefined ? {} : { mode: spec.mode }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  };
  return { request, secrets };
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
