import type { WorkflowWork } from "@steps/github-compiler/pipeline";
import { type Decision, type PipelineJob, Places, runPipeline } from "@steps/pipeline";
import type { ListedJob } from "../print/listed-job.ts";
import { PipelineRows } from "../print/pipeline-rows.ts";

/**
 * The jobs of a workflow in the order in which they would run, if each of them succeeded without outputs. What a job
 * decides by the outputs of others is not known then: it is listed with the jobs that it waits for as the reason.
 */
export async function listWorkflow(jobs: readonly PipelineJob<WorkflowWork>[]): Promise<readonly ListedJob[]> {
  const open = new Set<string>();
  const rows = new PipelineRows();
  await runPipeline<undefined>(
    jobs.map((job) => ({
      ...job,
      decide: async (...moment) => {
        const decision = await job.decide(...moment);
        if ("run" in decision || job.needs.length === 0) return withoutWork(decision);
        open.add(job.id);
        return { run: { instances: [{ name: job.id, work: undefined }] } };
      },
    })),
    {
      places: new Places(1),
      run: () => Promise.resolve({ status: "success" }),
      onEvent: (event) => void rows.apply(event, "", 0),
    },
  );
  const needsOf = new Map(jobs.map(({ id, needs }) => [id, needs]));
  return rows.rows.map(({ job, result, reason }): ListedJob => {
    const needs = needsOf.get(job);
    const waits = `decided when these have ended: ${(needs ?? []).join(", ")}`;
    return { job, isIn: result === "success", needs, reason: open.has(job) ? waits : reason };
  });
}

function withoutWork(decision: Decision<WorkflowWork>): Decision<undefined> {
  if ("result" in decision) return decision;
  const instances = decision.run.instances.map((instance) => ({ ...instance, work: undefined }));
  return { run: { ...decision.run, instances } };
}
