export { secretsOfCall } from "./evaluate-call.ts";
export type { CallableWorkflow } from "./callable.ts";
export type { WorkflowCall } from "./check-call.ts";
export { checkWorkflow } from "./check-jobs.ts";
export { type PlannedWorkflow, planWorkflow } from "./plan-workflow.ts";
export type { CallWork, PlanWorkflowOptions, StepsWork, WorkflowWork } from "./workflow-work.ts";
export { waitsForEver } from "./read-group.ts";
export type { WorkflowReference } from "./workflow-reference.ts";
