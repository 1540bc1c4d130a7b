import { type CommandLine, type Flag, type Flags, grouped, readSecrets, UsageError } from "@steps/console";
import { ambientEnvironment, logLevel, matchingVariables, offeredEnvironment, userDirectories } from "@steps/engine";
import { type Job, type RuntimeString, sensitive, VARIABLE_PATTERN } from "@steps/model";
import { withLauncher } from "./launcher.ts";

export const strictEnv: Flag = {
  type: "boolean",
  summary: "Steps start from PATH, HOME, TMPDIR and LANG only, besides what they and their callers name",
  env: "STEP_RUNNER_STRICT_ENV",
};

/** Flags that say what the steps of a job are given: the two that most jobs need. */
export const givenFlags: Flags = {
  secret: {
    type: "list",
    placeholder: "NAME=VALUE",
    summary: "A secret that the job can grant to steps that ask for it; VALUE may be env:X or file:P; repeat for more",
  },
  "vars-from-env": {
    type: "list",
    placeholder: "PATTERN",
    summary:
      "Job variables from the environment of this command: a name, or a pattern such as DEPLOY_*; they win over those of a file; repeat for more",
    env: "STEP_RUNNER_VARS_FROM_ENV",
    separator: /[\s,]+/,
  },
};

/** The others. */
export const environmentFlags: Flags = grouped("Environment and secrets of the steps", {
  "mask-variable": {
    type: "list",
    placeholder: "NAME",
    summary: "Mask the value of a job variable or environment variable; repeat for more",
  },
  "job-env": {
    type: "boolean",
    summary: "The processes of all steps get the job variables as environment",
    env: "STEP_RUNNER_JOB_ENV",
  },
  "strict-env": strictEnv,
  sensitive: {
    type: "string",
    summary: "What a secret in a place that is not marked for it is; it is masked in any case",
    choices: ["error", "warn"],
    default: "error",
    env: "STEP_RUNNER_SENSITIVE",
  },
});

/** Flags that say how the files of steps are read. */
export const languageFlags: Flags = grouped("How steps are read", {
  lenient: { type: "boolean", summary: "Unknown keys in step files are warnings", env: "STEP_RUNNER_LENIENT" },
  compat: {
    type: "string",
    summary:
      "Where the years differ: scripts go on after a failing line (2025), commands start in the step's folder and find $OUTPUT_FILE, $ENV_FILE, $STEP_JSON (blueprint; auto: those of files with type: and no typed input)",
    choices: ["2025", "blueprint", "auto"],
    env: "STEP_RUNNER_COMPAT",
  },
  "strict-moa": {
    type: "boolean",
    summary: "Only strings may have text around them; other values need str()",
    env: "STEP_RUNNER_STRICT_MOA",
  },
});

/** Variables of the environment of the command that `--vars-from-env` makes job variables. @throws {UsageError} */
export function variablesFromEnvironment(line: CommandLine): Record<string, string> {
  const patterns = line
    .list("vars-from-env")
    .flatMap((text) => text.split(","))
    .map((text) => text.trim());
  const wrong = patterns.find((pattern) => !VARIABLE_PATTERN.test(pattern));
  if (wrong !== undefined)
    throw new UsageError(`--vars-from-env is "${wrong}"`, "It takes names and patterns: DEPLOY_*.");
  return matchingVariables(process.env, patterns);
}

/** Returns the environment that the processes of all steps start from. */
export function baseEnvironment(line: CommandLine, vars: Readonly<Record<string, string>>): Record<string, string> {
  const ambient = {
    ...ambientEnvironment(process.env, { isStrict: line.boolean("strict-env") }),
    ...logLevel(vars, process.env),
  };
  return line.boolean("job-env") ? { ...ambient, ...vars } : ambient;
}

/** The same for a job of steps, which finds this program on its PATH. */
export function stepsEnvironment(line: CommandLine, vars: Readonly<Record<string, string>>): Record<string, string> {
  return withLauncher(baseEnvironment(line, vars), line.string("state-dir") ?? userDirectories(process.env).state);
}

/** Reads the secrets, the offered environment and the mode of a job from the flags. @throws {UsageError} */
export function givenByFlags(line: CommandLine): Pick<Job, "grants" | "mode"> & Required<Pick<Job, "offeredEnv">> {
  const secrets = readSecrets(line.list("secret"));
  const compat = line.string("compat");
  const mode = {
    ...(compat === "2025" || compat === "blueprint" || compat === "auto" ? ({ compat } as const) : {}),
    ...(line.boolean("strict-moa") ? { isStrictMoa: true } : {}),
    ...(line.string("sensitive") === "warn" ? { warnsOfSensitive: true } : {}),
  };
  return {
    offeredEnv: offeredEnvironment(process.env),
    grants: Object.keys(secrets).length === 0 ? undefined : markAll(secrets),
    mode: Object.keys(mode).length === 0 ? undefined : mode,
  };
}

function markAll(secrets: Readonly<Record<string, string>>): Record<string, RuntimeString> {
  return Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, sensitive(value) as RuntimeString]));
}
