import type { Value } from "@steps/model";
import type { Source } from "@steps/model/diagnostic";
import type { CompiledWorkflowJob } from "../workflow/compile-job.ts";
import type { WorkflowOptions } from "../workflow/workflow-options.ts";

/** The work of one instance of a job: steps of its own, or the jobs of another workflow. */
export type WorkflowWork = StepsWork | CallWork;

interface CommonWork {
  /** The id of the job in its workflow. */
  readonly jobId: string;
  /** When true, a failure of the instance is no failure of the workflow (`continue-on-error`). */
  readonly isAllowedToFail: boolean;
  /** The context `needs` of the job, as `WorkflowOptions` take it. */
  readonly needs: Readonly<Record<string, Value>>;
}

/** Steps to run. */
export interface StepsWork extends CommonWork {
  readonly kind: "steps";
  /** The name by which `compileWorkflowJob()` finds the instance, and no other. */
  readonly jobName: string;
  /** Compiles the steps for a workspace, whose context `github` is given. */
  readonly compile: (github: Readonly<Record<string, Value>>) => CompiledWorkflowJob;
}

/** A call of another workflow: `planWorkflow()` plans its jobs. */
export interface CallWork extends CommonWork {
  readonly kind: "call";
  /** The workflow as the job names it: `./.github/workflows/build.yml` or `owner/repo/.github/workflows/build.yml@v1`. */
  readonly uses: string;
  /** The concurrency group that the call holds while it runs. Absent without one. */
  readonly group: string | undefined;
  /** The inputs of `with`, evaluated. */
  readonly inputs: Readonly<Record<string, Value>>;
  /** `inherit` for all secrets of the caller, or texts in GitHub's language by the name that the called workflow knows. */
  readonly secrets: "inherit" | Readonly<Record<string, string>>;
}

/** The facts of a run of a workflow: those that a single job takes, without the jobs that it needs. */
export interface PlanWorkflowOptions extends Omit<WorkflowOptions, "needs"> {
  readonly source: Source;
  /** The concurrency groups that the callers of the workflow hold: a job that waits for one of them would wait for ever. */
  readonly heldGroups?: ReadonlySet<string>;
}
