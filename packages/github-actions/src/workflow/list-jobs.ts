import type { Diagnostic, Source } from "@steps/model";
import { createReading } from "../reading/reading.ts";
import { textOf } from "../reading/texts.ts";
import { earlyContexts } from "./compile-job.ts";
import { readInstances } from "./job-instances.ts";
import type { MatrixValues } from "./matrix.ts";
import { readWorkflow } from "./workflow-file.ts";
import type { WorkflowOptions } from "./workflow-options.ts";

export interface ListedJob {
  readonly id: string;
  /** In GitHub's order, one without a matrix if the job has none; empty when they cannot be told, which was reported. */
  readonly instances: readonly { readonly name: string; readonly matrix: MatrixValues | undefined }[];
  readonly needs: readonly string[];
  /** It calls another workflow and has no steps. */
  readonly isReusable: boolean;
}

/** The jobs of a workflow, in the order of the file, with the instances of their matrices. Never throws. */
export function listWorkflowJobs(
  source: Source,
  options: WorkflowOptions = {},
): { readonly jobs: readonly ListedJob[]; readonly diagnostics: readonly Diagnostic[] } {
  const reading = createReading("workflow");
  const file = readWorkflow(reading, source);
  if (file === undefined) return { jobs: [], diagnostics: reading.report.finish() };
  const contexts = earlyContexts(reading, file, options);
  const jobs = [...file.jobs.values()].map((job): ListedJob => {
    // What is wrong with one job says nothing about the next.
    const own = createReading("workflow");
    const instances = readInstances(own, job, contexts) ?? [];
    const needs = job.value.entries.get("needs")?.value;
    const ids = needs === undefined ? [] : needs.kind === "list" ? needs.items : [needs];
    const listed = {
      id: job.id,
      instances: instances.map(({ name, matrix }) => ({ name, matrix })),
      needs: ids.map((node) => textOf(own, node, `An item of "needs"`) ?? "").filter((id) => id !== ""),
      isReusable: job.value.entries.has("uses"),
    };
    reading.report.include(own.report.finish());
    return listed;
  });
  return { jobs, diagnostics: reading.report.finish() };
}
