import type { Diagnostic, Source } from "@steps/model/diagnostic";
import { Report } from "@steps/source";
import type { CiReport } from "./ci-rules.ts";
import { answerNow } from "./load/asking.ts";
import { inOrder, loadInto, type LoadPipelineOptions } from "./load/load-pipeline.ts";
import { withoutFiles } from "./without-files.ts";

/**
 * The names of the jobs of a `.gitlab-ci.yml` and of what it includes, in the order of the configuration, without the hidden ones
 * (`.name`); a job with `parallel` is one name. Of a configuration with faults, the jobs that could be read. What is wrong is a
 * diagnostic; what a function of the options throws is passed on.
 *
 * @param options - How to get at what is included; without it an include is an error.
 */
export function listJobs(
  source: Source,
  options: LoadPipelineOptions = withoutFiles,
): {
  readonly jobs: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const report: CiReport = new Report();
  const { pipeline, sources } = answerNow(loadInto(report, source, options), options);
  return { jobs: [...(pipeline?.groups.keys() ?? [])], diagnostics: inOrder(report.finish(), sources) };
}
