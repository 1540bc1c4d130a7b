import { type Command, type CommandLine, complain, grouped } from "@steps/console";
import type { WorkflowJob } from "@steps/github-compiler";
import { absoluteSources, LOCK_FILE } from "../component-flags.ts";
import { userDirectories } from "@steps/engine";
import { baseEnvironment } from "../job-flags.ts";
import { launcherDirectory } from "../launcher.ts";
import { givenVariables, jobFlags, readJob } from "../read-job.ts";
import { fetchFlags, runFlags, stateDir } from "../run-flags.ts";
import { isWorkflow } from "../is-workflow.ts";
import { absolute } from "../absolute.ts";
import { runJob } from "../run-job.ts";

export const local: Command = {
  name: "local",
  summary: "Run one job of a local CI file",
  usage: "[FILE] [flags]",
  description: [
    "FILE is .gitlab-ci.yml unless given; one in .github/workflows, or with the keys on and jobs, is a workflow of GitHub, whose job or matrix instance is named by --job-name. A job runs with its variables and either its run: list or its scripts; " +
      "keywords that are not honoured are reported. The job finds the command step-runner, also as /step-runner.",
  ],
  flags: {
    ...jobFlags,
    ...runFlags,
    ...grouped("A workflow of GitHub", {
      "ignore-if": { type: "boolean", summary: "Run a job of a workflow although its own condition does not hold" },
      home: {
        type: "boolean",
        summary: "The steps of a workflow get your own HOME; by default a job has an empty one, which goes with it",
      },
    }),
  },
  positionals: { min: 0, max: 1 },
  examples: [
    ["step-runner local .gitlab-ci.yml --job-name test", "run the job test"],
    ["step-runner local --job-name hello-world --output-file trace.json", "run a job and keep its trace"],
    ["step-runner local --job-name test --variable LEVEL=debug", "override a variable"],
    ["step-runner local .github/workflows/ci.yml --job-name test", "run a job of a GitHub workflow"],
    ["step-runner local deploy.yml --input target=staging", "give an input of workflow_dispatch"],
  ],
  run,
};

async function run(line: CommandLine): Promise<number> {
  const path = line.positionals[0] ?? ".gitlab-ci.yml";
  if (isWorkflow(line, path)) return runWorkflow(line, path);
  const read = readJob(line, path);
  if (read === undefined) return 2;
  const { job, workDir } = read;
  const vars = job.variables;
  return runJob(line, {
    entry: "local",
    name: job.name,
    source: path,
    specDefinition: job.specDefinition,
    positionOf: job.positionOf,
    inputs: {},
    vars,
    env: jobEnvironment(line, vars),
    workDir,
    baseDir: workDir,
  });
}

async function runWorkflow(line: CommandLine, path: string): Promise<number> {
  const { readWorkflowJob } = await import("../read-workflow-job.ts");
  const read = readWorkflowJob(line, path);
  if (read === undefined) return 2;
  const { specDefinition, positionOf, job, workDir, variables } = read;
  if (!isWanted(line, job)) return 0;
  const { id, name, workflowName = "", timeoutMinutes } = job;
  const vars = givenVariables(line);
  const known = { CI_JOB_NAME: id, CI_PIPELINE_NAME: workflowName, CI_PROJECT_DIR: workDir, CI_CONFIG_PATH: path };
  const workflowJob = {
    entry: "local",
    name,
    source: path,
    specDefinition,
    positionOf,
    inputs: {},
    vars: { ...variables, ...known, ...vars },
    env: workflowEnvironment(line, vars),
    workDir,
    baseDir: workDir,
  } as const;
  return runJob(line, workflowJob, {
    timeoutMs: timeoutMinutes === undefined ? undefined : timeoutMinutes * 60_000,
  });
}

// Without a HOME the job has one of its own.
function workflowEnvironment(line: CommandLine, vars: Readonly<Record<string, string>>): Record<string, string> {
  const { HOME, ...env } = baseEnvironment(line, vars);
  return line.boolean("home") && HOME !== undefined ? { ...env, HOME } : env;
}

// A job that its own condition excludes is not run because somebody named it, and not silently because somebody insists.
function isWanted(line: CommandLine, { name, verdict }: WorkflowJob): boolean {
  const { holds, isUnknown, explanation } = verdict;
  if (holds && !isUnknown) return true;
  const isIgnored = line.boolean("ignore-if") || isUnknown;
  const why = isUnknown
    ? "whether it would depends on what is unknown here"
    : `its condition does not hold: ${explanation}`;
  const hint = isIgnored ? undefined : "--ignore-if runs it all the same.";
  if (!line.boolean("quiet") || !isIgnored)
    complain(`The job "${name}" is ${isIgnored ? "" : "not "}run: ${why}`, hint);
  return isIgnored;
}

// A step-runner that the job calls keeps its files where this one does and fetches from where this one does.
function jobEnvironment(line: CommandLine, vars: Readonly<Record<string, string>>): Record<string, string> {
  const env = baseEnvironment(line, vars);
  const own = Object.entries(process.env).filter(([name]) => /^(?:STEP_RUNNER_|XDG_(?:CACHE|STATE)_HOME$)/.test(name));
  for (const [name, value] of own) if (value !== undefined && name !== "STEP_RUNNER_COOKIE") env[name] = value;
  for (const [name, flag] of Object.entries({ ...fetchFlags, "state-dir": stateDir })) {
    const given = line.list(name).join(" ");
    if (flag.env !== undefined && given !== "") env[flag.env] = isPath(name) ? absolute(given) : given;
  }
  const sources = absoluteSources(line);
  if (sources !== "") env["STEP_RUNNER_COMPONENT_SOURCE"] = sources;
  if (line.boolean("locked")) {
    env["STEP_RUNNER_LOCKED"] = "true";
    env["STEP_RUNNER_LOCK_FILE"] = absolute(line.string("lock-file") ?? LOCK_FILE);
  }
  const state = line.string("state-dir") ?? userDirectories(process.env).state;
  env["PATH"] = `${launcherDirectory(absolute(state))}:${env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"}`;
  return env;
}

function isPath(flag: string): boolean {
  return flag === "cache-dir" || flag === "state-dir";
}
