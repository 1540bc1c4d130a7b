import { defineCommand, flag, grouped, type OptionsOf } from "@steps/console";
import { complain } from "@steps/console/terminal";
import type { WorkflowJob } from "@steps/github-compiler";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import { attemptTerms } from "../run/attempt-terms.ts";
import { ciJobEnvironment } from "../environment/ci-job-environment.ts";
import { executorFlags } from "../job-containers/executor-flags.ts";
import { tellIgnored } from "../input/tell-ignored.ts";
import { userDirectories } from "@steps/engine/runs";
import { requireTerminal, shellFlag } from "../failure-shell/shell-flag.ts";
import { absolute } from "../files/absolute.ts";
import { projectStores, storeInputs, sweepStores } from "../files/job-stores.ts";
import { isJobWanted, printExplanation } from "../input/is-job-wanted.ts";
import { givenVariables } from "../input/given-variables.ts";
import { namedCiFile } from "../input/load-ci-file.ts";
import { jobFlags } from "../input/read-job.ts";
import { readJudgedJob } from "../input/read-judged-job.ts";
import { needsFlags } from "../flags/needs-flags.ts";
import { runFlags } from "../flags/run-flags.ts";
import { isWorkflow } from "../input/is-workflow.ts";
import type { CommandJob } from "../run/command-job.ts";
import { type JobSource, type RunDefaults, runJob } from "../run/run-job.ts";
import { settingsFlags, settingsOfCall } from "../settings/settings-of-call.ts";
import { withFileVariables } from "../situation/file-variables.ts";
import { judgedFlags, situationFlags } from "../situation/situation-flags.ts";
import { JobWorkspace, workspaceFlags } from "../workspace/job-workspace.ts";
import { homeFlag, workflowCommandJob, workflowTimeout } from "../run/workflow-command-job.ts";

const flags = {
  ...jobFlags,
  ...needsFlags,
  ...runFlags,
  ...grouped("The job of a .gitlab-ci.yml", {
    "job-input": flag.pairs({
      summary: "An input of the job, which its scripts have as ${{ job.inputs.NAME }}; repeat for more",
    }),
    needs: flag.boolean({ summary: "Run first the jobs that it needs, each in a copy of the project of its own" }),
  }),
  ...grouped("What is shown", {
    report: flag.choice(["json", "junit", "markdown"], {
      summary: "Print a report of the job on standard output; the output of the job goes to standard error then",
    }),
  }),
  ...situationFlags,
  ...judgedFlags,
  ...executorFlags,
  ...workspaceFlags,
  ...shellFlag,
  ...grouped("Where the job runs", {
    "artifacts-dir": flag.path({
      placeholder: "DIR",
      summary:
        "Keep the artifacts of the job here, in a folder with its name; by default they stay in the state directory",
    }),
  }),
  ...settingsFlags,
  ...grouped("A workflow of GitHub", {
    "ignore-if": flag.boolean({ summary: "Run a job of a workflow although its own condition does not hold" }),
    ...homeFlag,
  }),
};
type Options = OptionsOf<typeof flags>;

export const local = defineCommand({
  name: "local",
  summary: "Run one job of a local CI file",
  usage: "[FILE] [flags]",
  description: [
    "FILE is the .gitlab-ci.yml of this folder or of the nearest above it unless given; one in .github/workflows, or with the keys on and jobs, is a workflow of GitHub, whose job or matrix instance is named by --job-name. A job runs with its variables and either its run: list or its scripts; " +
      "keywords that have no effect on one machine are named in one line. It is tried again as its retry says, and a failure that its allow_failure allows ends with 0. A job that its rules exclude, or that is started by hand, is run only with --force; on a terminal you are asked. " +
      "CI_COMMIT_*, CI_PROJECT_*, CI_MERGE_REQUEST_* and the like come from the repository and from the flags. The job finds the command step-runner, also as /step-runner.",
    "The job runs in a copy of the project, with changed and new files and without those that git ignores, so that nothing is written to the project itself; outside of git the copy has all files of the folder. --in-place runs it in the project.",
  ],
  flags,
  positionals: { min: 0, max: 1 },
  settings: settingsOfCall,
  examples: [
    ["step-runner local .gitlab-ci.yml --job-name test", "run the job test"],
    ["step-runner local --job-name hello-world --output-file trace.json", "run a job and keep its trace"],
    ["step-runner local --job-name test --variable LEVEL=debug", "override a variable"],
    ["step-runner local --job-name test --needs", "run a job after those that it needs"],
    ["step-runner local --job-name deploy --ref main --explain", "print why a job would run on main, or not"],
    ["step-runner local .github/workflows/ci.yml --job-name test", "run a job of a GitHub workflow"],
    ["step-runner local deploy.yml --input target=staging", "give an input of workflow_dispatch"],
  ],
  run,
});

async function run(given: Options, [named]: readonly string[]): Promise<number> {
  requireTerminal(given);
  const path = namedCiFile(named, "job-name");
  const options = withFileVariables(given);
  if (options.needs && !options.explain)
    return (await import("../pipeline/run-with-needs.ts")).runWithNeeds(options, path);
  await using workspace = new JobWorkspace(options);
  if (isWorkflow(options, path)) return await runWorkflow(options, path, workspace);
  const read = await readJudgedJob(options, path, (project) => (options.explain ? project : workspace.place(project)));
  if (read === undefined) return COMMAND_EXITS.input.code;
  const { job, includedFiles, workDir, judged, place } = read;
  if (options.explain) {
    await printExplanation(options, job.name, judged);
    return 0;
  }
  if (!(await isJobWanted(options, job.name, judged))) return 0;
  if (!options.quiet) tellIgnored(job.ignored);
  const vars = job.variables;
  const state = absolute(options.stateDir ?? userDirectories(process.env).state);
  const stores = projectStores(workspace.copy?.projectDir ?? workDir, state);
  const commandJob: CommandJob = {
    entry: "local",
    name: job.name,
    source: path,
    includedFiles: includedFiles.length === 0 ? undefined : includedFiles,
    specDefinition: job.specDefinition,
    positionOf: job.positionOf,
    inputs: {
      ...options.jobInput,
      ...storeInputs(job.specDefinition, stores),
    },
    vars,
    env: ciJobEnvironment(options, vars, place),
    workDir,
    baseDir: workDir,
  };
  // The rules may say otherwise than the job.
  const terms = await attemptTerms({ ...job.terms, allowFailure: judged.job.allowFailure });
  const rest = {
    timeoutMs: job.terms.timeoutMs,
    place,
    terms,
    hasShell: options.shellOnFailure,
    printReport: await reportOf(options, { job: job.name, stage: judged.facts.stage, path }),
  };
  await sweepStores(stores);
  const forget = (): Promise<void> => forgetArtifacts(commandJob, stores.artifactsDir);
  const runIt = (): Promise<number> => runJob(options, inWorkspace(workspace, commandJob, forget), rest);
  const { artifactsDir: target } = options;
  if (target === undefined) return await runIt();
  const { keepingArtifacts } = await import("../pipeline/gitlab/keep-artifacts.ts");
  return await keepingArtifacts({ ...stores, job: job.name, path: "", target }, runIt);
}

async function reportOf(
  { report }: Options,
  of: { readonly job: string; readonly stage?: string | undefined; readonly path: string },
): Promise<RunDefaults["printReport"]> {
  if (report === undefined) return undefined;
  const { reportOfJob } = await import("../pipeline/report-of-job.ts");
  return reportOfJob(report, of);
}

// The files that one attempt has kept are not those of the next.
async function forgetArtifacts({ name = "", inputs }: CommandJob, artifactsDir: string): Promise<void> {
  if (inputs?.["artifacts_dir"] === undefined) return;
  const { removeArtifacts } = await import("@steps/builtins/run");
  await removeArtifacts(artifactsDir, name);
}

function inWorkspace(
  workspace: JobWorkspace,
  job: CommandJob,
  beforeRetry = (): Promise<void> => Promise.resolve(),
): JobSource {
  let attempts = 0;
  return async (_engine, signal) => {
    if (attempts++ > 0) await beforeRetry();
    await workspace.fill(signal);
    return { ...job, workspace: workspace.copy };
  };
}

async function runWorkflow(options: Options, path: string, workspace: JobWorkspace): Promise<number> {
  const { projectOf, readWorkflowJob } = await import("../input/read-workflow-job.ts");
  const jobDir = await workspace.place(options.workDir ?? projectOf(path));
  const read = readWorkflowJob(options, path, { jobDir });
  if (read === undefined) return COMMAND_EXITS.input.code;
  if (!isWanted(options, read.job)) return 0;
  const run = { ...read, path, vars: givenVariables(options) };
  const job = workflowCommandJob(options, read.job.name, run);
  const { artifactDir = options.artifactsDir } = options;
  const rest = {
    timeoutMs: workflowTimeout(read),
    hasShell: options.shellOnFailure,
    printReport: await reportOf(options, { job: read.job.name, path }),
  };
  return await runJob({ ...options, artifactDir }, inWorkspace(workspace, job), rest);
}

// A job that its own condition excludes is not run because somebody named it, and not silently because somebody insists.
function isWanted({ ignoreIf, quiet }: Options, { name, verdict }: WorkflowJob): boolean {
  const { holds, isUnknown, explanation } = verdict;
  if (holds && !isUnknown) return true;
  const isIgnored = ignoreIf || isUnknown;
  const why = isUnknown
    ? "whether it would depends on what is unknown here"
    : `its condition does not hold: ${explanation}`;
  const hint = isIgnored ? undefined : "--ignore-if runs it all the same.";
  if (!quiet || !isIgnored) complain(`The job "${name}" is ${isIgnored ? "" : "not "}run: ${why}`, hint);
  return isIgnored;
}
