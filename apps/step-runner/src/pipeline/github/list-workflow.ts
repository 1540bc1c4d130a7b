import type { CallWork, WorkflowWork } from "@steps/github-compiler/pipeline";
import { type Decision, type PipelineJob, Places, runPipeline } from "@steps/pipeline";
import { PipelineRows, SEPARATOR } from "@steps/pipeline-view";
import type { ListedJob } from "../print/listed-job.ts";

type Jobs = readonly PipelineJob<WorkflowWork>[];

/** A job that calls a workflow. */
export interface ListedCall {
  readonly jobId: string;
  /** Absent for a call that is only decided by the outputs of other jobs. */
  readonly work: CallWork | undefined;
}

/** Gives the jobs of the workflow that a job calls, or the reason why they are not known. */
export type ListCalled = (call: ListedCall) => Promise<readonly ListedJob[] | string>;

/**
 * The jobs of a workflow in the order in which they would run, if each of them succeeded without outputs; behind each call the
 * jobs of the workflow that is called. What a job decides by the outputs of others is not known then: it is listed with the jobs
 * that it waits for as the reason.
 */
export async function listWorkflow(jobs: Jobs, listCalled: ListCalled): Promise<readonly ListedJob[]> {
  const open = new Set<string>();
  const works = new Map<string, WorkflowWork>();
  const rows = new PipelineRows();
  await runPipeline<WorkflowWork | undefined>(
    jobs.map((job) => ({
      ...job,
      decide: async (...moment): Promise<Decision<WorkflowWork | undefined>> => {
        const decision = await job.decide(...moment);
        if ("run" in decision || job.needs.length === 0) return decision;
        open.add(job.id);
        return { run: { instances: [{ name: job.id, work: undefined }] } };
      },
    })),
    {
      places: new Places(1),
      run: (work, _signal, { instance }) => {
        if (work !== undefined) works.set(instance, work);
        return Promise.resolve({ status: "success" });
      },
      onEvent: (event) => void rows.apply(event, "", 0),
    },
  );
  const needsOf = new Map(jobs.map(({ id, needs }) => [id, needs]));
  const listed: ListedJob[] = [];
  for (const { job, result, reason } of rows.rows) {
    const needs = needsOf.get(job);
    const waits = `decided when these have ended: ${(needs ?? []).join(", ")}`;
    const isIn = result === "success";
    const work = works.get(job);
    const called = isIn ? await listCalled({ jobId: work?.jobId ?? job, work: callOf(work) }) : [];
    const isMissing = typeof called === "string";
    listed.push({ job, isIn, needs, reason: isMissing ? called : open.has(job) ? waits : reason });
    if (!isMissing) listed.push(...behind(job, called));
  }
  return listed;
}

function callOf(work: WorkflowWork | undefined): CallWork | undefined {
  return work?.kind === "call" ? work : undefined;
}

function behind(caller: string, jobs: readonly ListedJob[]): readonly ListedJob[] {
  const name = (job: string): string => `${caller}${SEPARATOR}${job}`;
  return jobs.map((listed) => ({ ...listed, job: name(listed.job), needs: listed.needs?.map(name) }));
}
