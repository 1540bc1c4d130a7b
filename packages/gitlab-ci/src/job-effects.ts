import type { CiReport } from "./ci-rules.ts";
import { IGNORED_KEYWORDS, UNSUPPORTED_KEYWORDS } from "./keywords.ts";
import type { LoadedJob } from "./load/loaded-pipeline.ts";

/** Reports the keywords of a job without which it would be another job. */
export function reportUnsupported(job: LoadedJob, report: CiReport): void {
  for (const [keyword, message] of Object.entries(UNSUPPORTED_KEYWORDS)) {
    const entry = job.keywords.get(keyword);
    if (entry !== undefined) report.error(entry.key, { code: "not-supported", message });
  }
}

/** The keywords of a job, own and inherited, that have no effect here, in the order of the alphabet. */
export function ignoredKeywords(job: LoadedJob): readonly string[] {
  return IGNORED_KEYWORDS.filter((keyword) => job.keywords.has(keyword));
}
