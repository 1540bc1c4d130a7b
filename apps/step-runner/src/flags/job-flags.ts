import { converted, flag, grouped, type OptionsOf } from "@steps/console";
import { ambientEnvironment, logLevel, matchingVariables, offeredEnvironment } from "@steps/engine/environment";
import { userDirectories } from "@steps/engine/runs";
import { type Job, type RuntimeString, sensitive } from "@steps/model";
import { checkPatterns } from "./allowed-exports.ts";
import { withLauncher } from "../launcher.ts";

export const strictEnv = flag.boolean({
  summary: "Steps start from PATH, HOME, TMPDIR and LANG only, besides what they and their callers name",
  env: "STEP_RUNNER_STRICT_ENV",
});

/** The heading of the flags that say what the steps of a job are given. */
const HEADING = "Environment and secrets of the steps";

/** Flags that say what the steps of a job are given: secrets, which most jobs need, and variables. */
export const givenFlags = {
  secret: flag.secrets({
    summary: "A secret that the job can grant to steps that ask for it; VALUE may be env:X or file:P; repeat for more",
  }),
  ...grouped(HEADING, {
    "vars-from-env": converted(
      flag.list({
        placeholder: "PATTERN",
        summary:
          "Job variables from the environment of this command: a name, or a pattern such as DEPLOY_*; they win over those of a file; repeat for more",
        env: "STEP_RUNNER_VARS_FROM_ENV",
        separator: /[\s,]+/,
      }),
      (texts, name) => {
        const patterns = texts.flatMap((text) => text.split(",")).map((text) => text.trim());
        return checkPatterns(name, patterns, "DEPLOY_*");
      },
    ),
  }),
};

/** The options that say what the steps of a job are given. `varsFromEnv` holds names and patterns. */
export type GivenOptions = OptionsOf<typeof givenFlags>;

/** The others. */
export const environmentFlags = grouped(HEADING, {
  mask: flag.list({
    placeholder: "VALUE",
    summary: "Replace a value by [MASKED] wherever it turns up; repeat for more",
  }),
  "mask-variable": converted(
    flag.list({
      placeholder: "NAME",
      summary: "Mask the value of a job variable or environment variable; repeat for more",
    }),
    (texts) => texts.flatMap((names) => names.split(",")),
  ),
  "job-env": flag.boolean({
    summary: "The processes of all steps get the job variables as environment",
    env: "STEP_RUNNER_JOB_ENV",
  }),
  "strict-env": strictEnv,
  sensitive: flag.choice(["error", "warn"], {
    summary: "Whether a secret in a place that is not marked for it is an error or a warning; it is masked in any case",
    default: "error",
    env: "STEP_RUNNER_SENSITIVE",
  }),
});

/** The options that say what environment the processes of steps get, and what is masked in it. */
export type EnvironmentOptions = OptionsOf<typeof environmentFlags>;

/** Flags that say how the files of steps are read. */
export const languageFlags = grouped("How steps are read", {
  lenient: flag.boolean({ summary: "Unknown keys in step files are warnings", env: "STEP_RUNNER_LENIENT" }),
  compat: flag.choice(["2025", "blueprint", "auto"], {
    summary:
      "Where the years differ: scripts go on after a failing line (2025), commands start in the step's folder and find $OUTPUT_FILE, $ENV_FILE, $STEP_JSON (blueprint; auto: those of files with type: and no typed input)",
    env: "STEP_RUNNER_COMPAT",
  }),
  "strict-moa": flag.boolean({
    summary: "Only strings may have text around them; other values need str()",
    env: "STEP_RUNNER_STRICT_MOA",
  }),
  "strict-vars": flag.boolean({
    summary: "A variable that the job does not have is an error in ${{ vars.NAME }}, and not an empty text",
    env: "STEP_RUNNER_STRICT_VARS",
  }),
});

/** The options that say how the files of steps are read. */
export type LanguageOptions = OptionsOf<typeof languageFlags>;

/** Variables of the environment of the command that `--vars-from-env` makes job variables. */
export function variablesFromEnvironment({ varsFromEnv = [] }: Partial<GivenOptions>): Record<string, string> {
  return matchingVariables(process.env, varsFromEnv);
}

/** Returns the environment that the processes of all steps start from. */
export function baseEnvironment(
  { strictEnv: isStrictEnv, jobEnv }: Pick<EnvironmentOptions, "strictEnv" | "jobEnv">,
  vars: Readonly<Record<string, string>>,
): Record<string, string> {
  const ambient = { ...ambientEnvironment(process.env, { isStrictEnv }), ...logLevel(vars, process.env) };
  return jobEnv ? { ...ambient, ...vars } : ambient;
}

/** The same for a job of steps, which finds this program on its PATH. */
export function stepsEnvironment(
  options: Pick<EnvironmentOptions, "strictEnv" | "jobEnv"> & { readonly stateDir: string | undefined },
  vars: Readonly<Record<string, string>>,
): Record<string, string> {
  return withLauncher(baseEnvironment(options, vars), options.stateDir ?? userDirectories(process.env).state);
}

/** The secrets, the offered environment and the mode of a job. */
export function givenByFlags(
  options: Pick<GivenOptions, "secret"> & Pick<EnvironmentOptions, "sensitive"> & LanguageOptions,
): Pick<Job, "grants" | "mode"> & Required<Pick<Job, "offeredEnv">> {
  const { secret, compat, strictMoa, strictVars, sensitive: verdict } = options;
  const mode = {
    ...(compat === undefined ? {} : { compat }),
    ...(strictMoa ? { isStrictMoa: true } : {}),
    ...(strictVars ? { isStrictVars: true } : {}),
    ...(verdict === "warn" ? { warnsOfSensitive: true } : {}),
  };
  return {
    offeredEnv: offeredEnvironment(process.env),
    grants: Object.keys(secret).length === 0 ? undefined : markAll(secret),
    mode: Object.keys(mode).length === 0 ? undefined : mode,
  };
}

function markAll(secrets: Readonly<Record<string, string>>): Record<string, RuntimeString> {
  return Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, sensitive(value) as RuntimeString]));
}
