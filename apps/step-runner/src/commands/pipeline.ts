import { defineCommand } from "@steps/console";
import { namedCiFile } from "../input/load-ci-file.ts";
import { pipelineFlags } from "../pipeline/pipeline-flags.ts";
import { runPipelineFile } from "../pipeline/run-pipeline-file.ts";
import { settingsOfCall } from "../settings/settings-of-call.ts";
import { withFileVariables } from "../situation/file-variables.ts";

export const pipeline = defineCommand({
  name: "pipeline",
  summary: "Run all jobs of a CI file or of a workflow",
  usage: "[FILE] [flags]",
  description: [
    "FILE is the .gitlab-ci.yml of this folder or of the nearest above it unless given, or a workflow of GitHub. Its jobs run in the order of their stages and needs, as many at once as --jobs says, each in a private copy of the project as it was at the start, with the changes that are not committed. Outputs, artifacts and dotenv reports are handed on. Rules, conditions, matrices, retries, resource groups and concurrency, child pipelines and calls of workflows are honoured.",
    "A table at the end tells each job with its result. The exit code is 0 if all jobs passed, were skipped or may fail; otherwise that of the first job that failed.",
  ],
  flags: pipelineFlags,
  positionals: { min: 0, max: 1 },
  settings: settingsOfCall,
  examples: [
    ["step-runner pipeline", "run the .gitlab-ci.yml of the project"],
    ["step-runner pipeline --list", "show its jobs, and why each is in or out"],
    ["step-runner pipeline --only test --jobs 1", "run the job test after those that it needs"],
    ["step-runner pipeline --start deploy --variable TARGET=staging", "start a manual job when its turn comes"],
    ["step-runner pipeline --merge-request main --graph mermaid", "show what a merge request would run"],
    ["step-runner pipeline .github/workflows/ci.yml", "run a workflow"],
    ["step-runner pipeline --file-variable KUBECONFIG=kube.yml", "give all jobs a variable of type file"],
    ["step-runner pipeline ci.yml --report junit > report.xml", "write a report"],
  ],
  run: (options, [path]) => runPipelineFile(withFileVariables(options), namedCiFile(path, "only")),
});
