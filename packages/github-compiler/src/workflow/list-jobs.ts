import { checkOptionNames } from "@steps/model";
import type { GithubDiagnostic } from "../action-rules.ts";
import type { Source } from "@steps/model/diagnostic";
import { createReading } from "../reading/reading.ts";
import { textOf } from "../reading/texts.ts";
import { earlyContexts } from "./compile-job.ts";
import { shownNames } from "./choose-instance.ts";
import { readInstances } from "./job-instances.ts";
import type { MatrixValues } from "./matrix.ts";
import { readWorkflow } from "./workflow-file.ts";
import { eventsOf } from "./workflow-inputs.ts";
import { WORKFLOW_OPTION_NAMES, type WorkflowOptions } from "./workflow-options.ts";

/** A job of a workflow, with its instances. */
export interface ListedJob {
  readonly id: string;
  /** In GitHub's order, one without a matrix if the job has none; empty when they cannot be told, which was reported. */
  readonly instances: readonly ListedInstance[];
  readonly needs: readonly string[];
  /** It calls another workflow and has no steps. */
  readonly isReusable: boolean;
}

/** One instance of a job's matrix. */
interface ListedInstance {
  /** As GitHub shows it: `test (ubuntu, 20)`. */
  readonly name: string;
  /** The name that chooses this instance and no other. */
  readonly choice: string;
  readonly matrix: MatrixValues | undefined;
}

/** The jobs of a workflow, in the order of the file, with the instances of their matrices. Never throws. */
export function listWorkflowJobs(
  source: Source,
  options: WorkflowOptions = {},
): {
  readonly jobs: readonly ListedJob[];
  readonly diagnostics: readonly GithubDiagnostic[];
  /** The name of the workflow. Absent when it has none. */
  readonly name: string | undefined;
  /** The names in `on`. */
  readonly events: readonly string[];
} {
  checkOptionNames("listWorkflowJobs()", options, WORKFLOW_OPTION_NAMES);
  const reading = createReading("workflow");
  const file = readWorkflow(reading, source);
  if (file === undefined) return { jobs: [], diagnostics: reading.report.finish(), name: undefined, events: [] };
  const contexts = earlyContexts(reading, file, options);
  const jobs = [...file.jobs.values()].map((job): ListedJob => {
    // A fault in one job does not affect the next.
    const own = createReading("workflow");
    const instances = readInstances(own, job, contexts) ?? [];
    const choices = shownNames(instances);
    const needs = job.value.entries.get("needs")?.value;
    const ids = needs === undefined ? [] : needs.kind === "list" ? needs.items : [needs];
    const listed = {
      id: job.id,
      instances: instances.map(({ name, matrix }, index) => ({ name, matrix, choice: choices[index] ?? name })),
      needs: ids.map((node) => textOf(own, node, `An item of "needs"`) ?? "").filter((id) => id !== ""),
      isReusable: job.value.entries.has("uses"),
    };
    reading.report.include(own.report.finish());
    return listed;
  });
  return { jobs, diagnostics: reading.report.finish(), name: file.name, events: eventsOf(file.root) };
}
