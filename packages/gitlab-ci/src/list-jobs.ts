import type { Diagnostic, Source } from "@steps/model";
import { Report } from "@steps/source";
import { readCiFile } from "./ci-file.ts";
import type { CiReport } from "./ci-rules.ts";

/**
 * The names of the jobs of a `.gitlab-ci.yml`, in the order of the file, without the hidden ones (`.name`).
 * Never throws: what is wrong with the file is a diagnostic.
 */
export function listJobs(source: Source): {
  readonly jobs: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const report: CiReport = new Report();
  const file = readCiFile(source, report);
  const jobs = [...(file?.jobs ?? [])].filter(([, { value }]) => value.kind === "mapping").map(([name]) => name);
  return { jobs, diagnostics: report.finish() };
}
