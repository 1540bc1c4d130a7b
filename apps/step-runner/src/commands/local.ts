import type { Command, CommandLine } from "@steps/console";
import { absoluteSources, LOCK_FILE } from "../component-flags.ts";
import { userDirectories } from "@steps/engine";
import { baseEnvironment, variablesFromEnvironment } from "../job-flags.ts";
import { launcherDirectory } from "../launcher.ts";
import { jobFlags, readJob } from "../read-job.ts";
import { fetchFlags, runFlags, stateDir } from "../run-flags.ts";
import { isWorkflow } from "../is-workflow.ts";
import { absolute } from "../absolute.ts";
import { runJob } from "../run-job.ts";

export const local: Command = {
  name: "local",
  summary: "Run one job of a local CI file",
  usage: "[FILE] [flags]",
  description: [
    "FILE is .gitlab-ci.yml unless given; one in .github/workflows is a workflow of GitHub, whose job or matrix instance is named by --job-name. A job runs with its variables and either its run: list or its scripts; " +
      "keywords that are not honoured are reported. The job finds the command step-runner, also as /step-runner.",
  ],
  flags: { ...jobFlags, ...runFlags },
  positionals: { min: 0, max: 1 },
  examples: [
    ["step-runner local .gitlab-ci.yml --job-name test", "run the job test"],
    ["step-runner local --job-name hello-world --output-file trace.json", "run a job and keep its trace"],
    ["step-runner local --job-name test --variable LEVEL=debug", "override a variable"],
    ["step-runner local .github/workflows/ci.yml --job-name test", "run a job of a GitHub workflow"],
  ],
  run,
};

async function run(line: CommandLine): Promise<number> {
  const path = line.positionals[0] ?? ".gitlab-ci.yml";
  if (isWorkflow(line, path)) return runWorkflow(line, path);
  const read = readJob(line, path);
  if (read === undefined) return 2;
  const { job, workDir } = read;
  const vars = { ...variablesFromEnvironment(line), ...job.variables };
  return runJob(line, {
    entry: "local",
    source: path,
    jobName: job.name,
    specDefinition: job.specDefinition,
    positionOf: job.positionOf,
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
  const { specDefinition, positionOf, job, workDir } = read;
  const { id, name, workflowName = "", timeoutMinutes } = job;
  const vars = { ...variablesFromEnvironment(line), ...line.pairs("variable") };
  const known = { CI_JOB_NAME: id, CI_PIPELINE_NAME: workflowName, CI_PROJECT_DIR: workDir, CI_CONFIG_PATH: path };
  return runJob(line, {
    entry: "local",
    source: path,
    jobName: name,
    specDefinition,
    positionOf,
    vars: { ...known, ...vars },
    env: baseEnvironment(line, vars),
    workDir,
    baseDir: workDir,
    ...(timeoutMinutes === undefined ? {} : { timeoutMs: timeoutMinutes * 60_000 }),
  });
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
