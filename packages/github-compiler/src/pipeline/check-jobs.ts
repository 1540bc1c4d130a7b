import type { Value } from "@steps/model";
import type { Source } from "@steps/model/diagnostic";
import type { GithubDiagnostic } from "../action-rules.ts";
import { UNKNOWN_MATRIX, UNKNOWN_NEEDS } from "../reading/evaluate.ts";
import { createReading, type Reading } from "../reading/reading.ts";
import { compileInstance, earlyContexts } from "../workflow/compile-job.ts";
import { readInstances } from "../workflow/job-instances.ts";
import { type JobEntry, readWorkflow, type WorkflowFile } from "../workflow/workflow-file.ts";
import { readWorkflowCall, type WorkflowCall } from "./check-call.ts";
import { readCall } from "./read-call.ts";

/**
 * Checks every job of a workflow before the first one starts, as far as that can be done without what the jobs hand on. Gives the
 * calls of other workflows.
 */
export function checkJobs(
  reading: Reading,
  file: WorkflowFile,
  early: Readonly<Record<string, Value>>,
): readonly WorkflowCall[] {
  const contexts = { ...early, needs: UNKNOWN_NEEDS };
  return [...file.jobs.values()].flatMap((job) => {
    // A mistake in one job does not keep those in the next from being found.
    const own = createReading("workflow");
    const call = readWorkflowCall(own, job);
    checkJob(own, file, { job, contexts });
    reading.report.include(own.report.finish().filter(({ code }) => code !== "unknown-needs"));
    return call ?? [];
  });
}

/**
 * Checks the jobs of a workflow that nobody runs, as far as that can be done without the workflows that they call. Never throws:
 * what is wrong is a diagnostic, in the order of the text.
 *
 * @param isWanted whether the job with this id is checked
 */
export function checkWorkflow(source: Source, isWanted: (jobId: string) => boolean): readonly GithubDiagnostic[] {
  const reading = createReading("workflow");
  const file = readWorkflow(reading, source);
  if (file === undefined) return reading.report.finish();
  const contexts = earlyContexts(reading, file, {});
  for (const job of [...file.jobs.values()].filter(({ id }) => isWanted(id))) {
    const own = createReading("workflow");
    readWorkflowCall(own, job);
    checkJob(own, file, { job, contexts });
    reading.report.include(own.report.finish());
  }
  return reading.report.finish();
}

function checkJob(
  reading: Reading,
  file: WorkflowFile,
  { job, contexts }: { readonly job: JobEntry; readonly contexts: Readonly<Record<string, Value>> },
): void {
  const [first] = readInstances(reading, job, contexts) ?? [];
  if (first === undefined) return;
  // Without what the jobs before it hand on, a matrix may not be known yet.
  const isOpen = first.matrix === undefined && job.value.entries.has("strategy");
  const instance = isOpen ? { ...first, matrix: UNKNOWN_MATRIX } : first;
  if (!job.value.entries.has("uses")) compileInstance(reading, file, { job, instance, contexts, isInPipeline: true });
  else
    readCall(reading, job, {
      ...contexts,
      strategy: { ...instance.strategy },
      matrix: instance.matrix ?? null,
    });
}
