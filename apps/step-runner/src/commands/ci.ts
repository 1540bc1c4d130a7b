import { type Command, type CommandLine, UsageError } from "@steps/console";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { compileStepList } from "@steps/compiler";
import { ambientEnvironment, jobVariables } from "@steps/engine";
import { requireCompiled } from "../diagnose.ts";
import { runFlags } from "../run-flags.ts";
import { absolute, runJob } from "../run-job.ts";

export const ci: Command = {
  name: "ci",
  summary: "Run the list of steps in the variable STEPS",
  usage: "[flags]",
  description: [
    "STEPS holds a YAML list of steps. Steps run in CI_PROJECT_DIR, or in the current directory if it is not set; " +
      "variables that start with CI_, GITLAB_ or DOCKER_ are the job variables, ${{ vars.NAME }}.",
    "In a CI job (CI_PROJECT_DIR is set) the trace is written to trace.json there, unless --output-file names another place.",
  ],
  flags: runFlags,
  positionals: { min: 0, max: 0 },
  examples: [
    ['STEPS="$(cat steps.yml)" step-runner ci', "run the steps of a file"],
    [
      "STEPS='[{name: hi, script: echo hi}]' step-runner ci --output-file trace.json",
      "run one script and keep the trace",
    ],
  ],
  run,
};

async function run(line: CommandLine): Promise<number> {
  const text = process.env["STEPS"];
  if (text === undefined)
    throw new UsageError("STEPS is not set", 'Set it to a list of steps: STEPS="$(cat steps.yml)" step-runner ci');
  const compiled = compileStepList({ name: "STEPS", text }, { isLenient: line.boolean("lenient") });
  const specDefinition = requireCompiled(line, compiled);
  if (specDefinition === undefined) return 2;
  const projectDir = process.env["CI_PROJECT_DIR"];
  const isJob = projectDir !== undefined && projectDir !== "" && existsSync(projectDir);
  const workDir = isJob ? absolute(projectDir) : process.cwd();
  const job = {
    entry: "ci",
    source: "STEPS",
    specDefinition,
    positionOf: compiled.positionOf,
    vars: jobVariables(process.env),
    env: ambientEnvironment(process.env),
    workDir,
    baseDir: workDir,
    ...(process.env["CI_JOB_NAME"] === undefined ? {} : { jobName: process.env["CI_JOB_NAME"] }),
  } as const;
  return runJob(line, job, isJob ? { outputFile: join(workDir, "trace.json") } : {});
}
