export { GITHUB_RULES, type GithubCode, type GithubDiagnostic } from "./action-rules.ts";
export { compileAction } from "./action/compile-action.ts";
export { compileDockerfileAction, imageAction } from "./action/image-action.ts";
export {
  type CompileActionOptions,
  type CompiledAction,
  DOCKERFILE_ACTIONS,
  MANIFEST_FILES,
} from "./action/manifest.ts";
export { type CompiledWorkflowJob, compileWorkflowJob } from "./workflow/compile-job.ts";
export type { WorkflowJob } from "./workflow/job-facts.ts";
export { isWorkflowText } from "./workflow/workflow-file.ts";
export { type ListedJob, listWorkflowJobs } from "./workflow/list-jobs.ts";
export type { CompileWorkflowJobOptions, WorkflowOptions } from "./workflow/workflow-options.ts";
