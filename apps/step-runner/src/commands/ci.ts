import { defineCommand, type OptionsOf, UsageError } from "@steps/console";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { compileStepList } from "@steps/compiler";
import { jobVariables } from "@steps/engine/environment";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import { showDiagnostics } from "../input/diagnose.ts";
import { stepsEnvironment, variablesFromEnvironment } from "../flags/job-flags.ts";
import { runFlags, unattendedFlags } from "../flags/run-flags.ts";
import { absolute } from "../files/absolute.ts";
import { runJob } from "../run/run-job.ts";
import { variablesOfShell } from "../environment/shell-variables.ts";
import type { ServedJob } from "../run/run-served-job.ts";
import { portFlags } from "../flags/serve-flags.ts";

const flags = { ...runFlags, ...unattendedFlags, ...portFlags };
type Options = OptionsOf<typeof flags>;

export const ci = defineCommand({
  name: "ci",
  summary: "Run the list of steps in the variable STEPS",
  usage: "[flags]",
  description: [
    "STEPS holds a YAML list of steps. Steps run in CI_PROJECT_DIR, or in the current directory if it is not set; " +
      "variables that start with CI_, GITLAB_ or DOCKER_ are the job variables, ${{ vars.NAME }}. In a job of GitLab " +
      "(GITLAB_CI is true) those that the calling shell has set itself are job variables too: the runner exports a job's own so.",
    "In a CI job (CI_PROJECT_DIR is set) the trace is written to trace.json there, unless --output-file names another place.",
    "With --port the job, CI_JOB_ID or ci by name, can be followed and cancelled there while it runs; without STEPS it only serves.",
  ],
  flags,
  positionals: { min: 0, max: 1 },
  examples: [
    ['STEPS="$(cat steps.yml)" step-runner ci', "run the steps of a file"],
    [
      "STEPS='[{name: hi, script: echo hi}]' step-runner ci --output-file trace.json",
      "run one script and keep the trace",
    ],
  ],
  run,
});

async function run(options: Options, [argument]: readonly string[]): Promise<number> {
  if (argument !== undefined)
    throw new UsageError(
      `Unexpected argument: "${argument}"`,
      `ci reads the variable STEPS: STEPS="$(cat ${existsSync(argument) ? argument : "steps.yml"})" step-runner ci`,
    );
  const text = process.env["STEPS"];
  const { port } = options;
  if (text === undefined && port !== undefined) return serveOnPort(options, port);
  if (text === undefined)
    throw new UsageError("STEPS is not set", 'Set it to a list of steps: STEPS="$(cat steps.yml)" step-runner ci');
  const compiled = compileStepList({ name: "STEPS", text }, { isLenient: options.lenient, unknownNames: "run" });
  const { specDefinition } = compiled;
  showDiagnostics(options, compiled.diagnostics);
  if (specDefinition === undefined) return COMMAND_EXITS.input.code;
  const projectDir = process.env["CI_PROJECT_DIR"];
  const isJob = projectDir !== undefined && projectDir !== "" && existsSync(projectDir);
  const workDir = isJob ? absolute(projectDir) : process.cwd();
  const isGitlabJob = process.env["GITLAB_CI"] === "true";
  const vars = {
    ...(isGitlabJob ? variablesOfShell(process.env) : {}),
    ...jobVariables(process.env),
    ...variablesFromEnvironment(options),
  };
  const job = {
    entry: "ci",
    name: process.env["CI_JOB_NAME"],
    source: "STEPS",
    specDefinition,
    positionOf: compiled.positionOf,
    inputs: {},
    vars,
    env: stepsEnvironment(options, vars),
    workDir,
    baseDir: workDir,
  } as const;
  const defaults = isJob ? { outputFile: join(workDir, "trace.json") } : {};
  if (port === undefined) return runJob(options, job, defaults);
  return serveOnPort(options, port, { id: process.env["CI_JOB_ID"] || "ci", job, ...defaults });
}

// A service is loaded only where one is wanted.
async function serveOnPort(options: Options, port: number, job?: ServedJob): Promise<number> {
  const { serveJob } = await import("../run/run-served-job.ts");
  return serveJob(options, port, job);
}
