import { quote } from "@steps/model/diagnostic";
import { type Decision, isPassed, type JobResult, type JobResults, type PipelineState } from "@steps/pipeline";
import type { JobTerms } from "../compile/job-terms.ts";
import type { JudgedPipelineJob } from "../judge-pipeline.ts";
import type { ForeignNeed, Need } from "./read-needs.ts";
import type { Trigger } from "./read-trigger.ts";
import { isGate } from "./stage-gates.ts";

/** A job that is in the pipeline. */
export interface PlannedJob extends JudgedPipelineJob {
  /** The jobs that it needs; absent for a job that runs after all stages before its own. */
  readonly needs: readonly Need[] | undefined;
  /** The jobs of other pipelines whose artifacts it wants. */
  readonly foreignNeeds: readonly ForeignNeed[];
  /** True for a manual job that is started by hand. */
  readonly isStarted: boolean;
  /** The time that a delayed job waits, in milliseconds; absent for others. */
  readonly delayMs: number | undefined;
  readonly terms: JobTerms;
  /** Absent for a job that starts no pipeline. */
  readonly trigger: Trigger | undefined;
}

/** The moment when all jobs that a job waits for have ended. */
export interface StartMoment {
  readonly needs: readonly string[];
  readonly results: JobResults;
  readonly state: PipelineState;
}

/** Decides whether a job starts, by its `when` and what became of the jobs before it. */
export function decideStart(planned: PlannedJob, { needs, results, state }: StartMoment): Decision<PlannedJob> {
  const { job, decision, isStarted } = planned;
  const before = needs.flatMap((id) => (results.has(id) ? [{ id, result: results.get(id) as JobResult }] : []));
  const failed = before.find(({ result }) => result.status === "failure" && !isPassed(result));
  const stopped = failed ?? before.find(({ result }) => hasNotRun(result, planned));
  const skip = (reason: string, more: Partial<JobResult> = {}): Decision<PlannedJob> => ({
    result: { status: "skipped", reason, ...more },
  });
  if (state.isCancelled) return { result: { status: "cancelled", reason: "The pipeline was cancelled" } };
  const { when } = decision;
  if (when === "on_failure" && failed === undefined) return skip("No job before it failed");
  if (when !== "always" && when !== "on_failure" && stopped !== undefined) {
    return skip(failed === undefined ? `${nameOf(stopped.id)} did not run` : `${nameOf(failed.id)} failed`, {
      isBlocking: true,
    });
  }
  if (when === "manual" && !isStarted) {
    const isBlocking = decision.allowFailure === false;
    return skip(isBlocking ? "It waits to be started by hand" : "It is started by hand", { isBlocking });
  }
  const { trigger, terms, delayMs } = planned;
  if (trigger !== undefined && trigger.include.length === 0) {
    return skip(`It starts a pipeline of another project, ${quote(trigger.project ?? "")}, which does not run here`);
  }
  const instance = {
    name: job.name,
    work: planned,
    delayMs,
    group: terms.resourceGroup,
    holdsNoPlace: trigger !== undefined,
  };
  return { run: { instances: [instance] } };
}

// A job that needs another by name does not run without it. Between stages only a job that others wait for holds them up.
function hasNotRun({ status, isBlocking }: JobResult, { needs }: PlannedJob): boolean {
  return isBlocking === true || status === "cancelled" || (status === "skipped" && needs !== undefined);
}

function nameOf(id: string): string {
  return isGate(id) ? "A job of a stage before it" : quote(id);
}
