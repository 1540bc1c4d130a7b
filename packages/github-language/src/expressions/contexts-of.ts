import type { AvailableNames } from "./check.ts";

const STATUS = ["always", "success", "failure", "cancelled"];
const FILES = ["hashFiles"];

const COMPOSITE = ["github", "inputs", "strategy", "matrix", "steps", "job", "runner", "env"];
const ACTION_CONDITION = ["github", "inputs", "strategy", "matrix", "job", "runner", "env"];
const WORKFLOW = ["github", "inputs", "vars"];
const JOB = ["github", "needs", "strategy", "matrix", "vars", "inputs"];
const CREDENTIALS = [...JOB, "env", "secrets"];
const CONTAINER_ENV = [...CREDENTIALS, "job", "runner"];
const STEP_CONDITION = [...JOB, "job", "runner", "env", "steps"];
const STEP = [...STEP_CONDITION, "secrets"];

const inComposite: Required<AvailableNames> = { contexts: COMPOSITE, functions: FILES };
const inJob: Required<AvailableNames> = { contexts: JOB, functions: [] };
const inStep: Required<AvailableNames> = { contexts: STEP, functions: FILES };

/** A place in a manifest (`action.yml`) or a workflow where expressions are evaluated. */
export type ExpressionPlace =
  | "input-default"
  | "composite-output"
  | "composite-step-if"
  | "composite-step-name"
  | "composite-step-run"
  | "composite-step-shell"
  | "composite-step-env"
  | "composite-step-with"
  | "composite-step-working-directory"
  | "composite-step-continue-on-error"
  | "docker-args"
  | "docker-env"
  | "pre-if"
  | "post-if"
  | "run-name"
  | "concurrency"
  | "env"
  | "job-if"
  | "job-strategy"
  | "job-name"
  | "job-runs-on"
  | "job-concurrency"
  | "job-container"
  | "job-container-credentials"
  | "job-container-env"
  | "job-services"
  | "job-services-credentials"
  | "job-services-env"
  | "job-continue-on-error"
  | "job-timeout-minutes"
  | "job-defaults-run"
  | "job-env"
  | "job-environment"
  | "job-environment-url"
  | "job-outputs"
  | "job-with"
  | "job-secrets"
  | "step-if"
  | "step-name"
  | "step-run"
  | "step-shell"
  | "step-env"
  | "step-with"
  | "step-working-directory"
  | "step-timeout-minutes"
  | "step-continue-on-error"
  | "workflow-call-input-default"
  | "workflow-call-output";

/**
 * Which contexts and functions exist in each place of a manifest and of a workflow, as GitHub has it; the functions that
 * exist everywhere are not listed. For `checkTemplate` and `checkCondition`.
 */
export const CONTEXTS_OF: Readonly<Record<ExpressionPlace, Required<AvailableNames>>> = {
  /** `inputs.<id>.default` of a manifest. */
  "input-default": { contexts: ["github", "strategy", "matrix", "job", "runner"], functions: FILES },
  /** `outputs.<id>.value` of a composite action. */
  "composite-output": { contexts: COMPOSITE, functions: [] },
  "composite-step-if": { contexts: COMPOSITE, functions: [...STATUS, ...FILES] },
  "composite-step-name": inComposite,
  "composite-step-run": inComposite,
  "composite-step-shell": inComposite,
  "composite-step-env": inComposite,
  "composite-step-with": inComposite,
  "composite-step-working-directory": inComposite,
  "composite-step-continue-on-error": inComposite,
  /** `runs.args` of a Docker action. */
  "docker-args": { contexts: ["inputs"], functions: [] },
  /** `runs.env` of a Docker action. */
  "docker-env": { contexts: ["inputs"], functions: [] },
  "pre-if": { contexts: ACTION_CONDITION, functions: [...STATUS, ...FILES] },
  "post-if": { contexts: ACTION_CONDITION, functions: [...STATUS, ...FILES] },

  "run-name": { contexts: WORKFLOW, functions: [] },
  concurrency: { contexts: WORKFLOW, functions: [] },
  env: { contexts: [...WORKFLOW, "secrets"], functions: [] },

  "job-if": { contexts: ["github", "needs", "vars", "inputs"], functions: STATUS },
  "job-strategy": { contexts: ["github", "needs", "vars", "inputs"], functions: [] },
  "job-name": inJob,
  "job-runs-on": inJob,
  "job-concurrency": inJob,
  "job-container": inJob,
  "job-container-credentials": { contexts: CREDENTIALS, functions: [] },
  "job-container-env": { contexts: CONTAINER_ENV, functions: [] },
  "job-services": inJob,
  "job-services-credentials": { contexts: CREDENTIALS, functions: [] },
  "job-services-env": { contexts: CONTAINER_ENV, functions: [] },
  "job-continue-on-error": inJob,
  "job-timeout-minutes": inJob,
  "job-defaults-run": { contexts: [...JOB, "env"], functions: [] },
  "job-env": { contexts: [...JOB, "secrets"], functions: [] },
  "job-environment": inJob,
  "job-environment-url": { contexts: STEP_CONDITION, functions: [] },
  "job-outputs": { contexts: STEP, functions: [] },
  "job-with": inJob,
  "job-secrets": { contexts: [...JOB, "secrets"], functions: [] },

  "step-if": { contexts: STEP_CONDITION, functions: [...STATUS, ...FILES] },
  "step-name": inStep,
  "step-run": inStep,
  /** Expressions in it are not evaluated; `job-defaults-run` is the way. */
  "step-shell": { contexts: [], functions: [] },
  "step-env": inStep,
  "step-with": inStep,
  "step-working-directory": inStep,
  "step-timeout-minutes": inStep,
  "step-continue-on-error": inStep,

  /** `on.workflow_call.inputs.<id>.default`. */
  "workflow-call-input-default": { contexts: WORKFLOW, functions: [] },
  /** `on.workflow_call.outputs.<id>.value`. */
  "workflow-call-output": { contexts: [...WORKFLOW, "jobs"], functions: [] },
};
