import type { YamlEntry, YamlMapping } from "@steps/source";
import type { CiReport } from "./ci-rules.ts";
import { HONOURED_KEYWORDS, IGNORED_GLOBAL_KEYWORDS, IGNORED_KEYWORDS, UNSUPPORTED_KEYWORDS } from "./keywords.ts";
import type { LoadedJob } from "./load/loaded-pipeline.ts";

/** Reports every keyword of a job, and of the top of its configuration, that is not supported or has no effect here. */
export function reportEffects(root: YamlMapping, job: LoadedJob, report: CiReport): void {
  for (const [keyword, { key }] of root.entries) {
    const effect = Object.hasOwn(IGNORED_GLOBAL_KEYWORDS, keyword) ? IGNORED_GLOBAL_KEYWORDS[keyword] : undefined;
    if (effect === undefined) continue;
    report.warn(key, { code: "keyword-not-honoured", message: `"${keyword}" has no effect: ${effect}` });
  }
  for (const [keyword, entry] of job.keywords) {
    if (keyword !== "parallel" || job.instance === undefined) reportEffect(keyword, entry, report);
  }
}

function reportEffect(keyword: string, { key }: YamlEntry, report: CiReport): void {
  if (HONOURED_KEYWORDS.includes(keyword)) return;
  if (Object.hasOwn(UNSUPPORTED_KEYWORDS, keyword)) {
    report.error(key, { code: "not-supported", message: UNSUPPORTED_KEYWORDS[keyword] as string });
  } else if (Object.hasOwn(IGNORED_KEYWORDS, keyword)) {
    report.warn(key, {
      code: "keyword-not-honoured",
      message: `"${keyword}" has no effect: ${IGNORED_KEYWORDS[keyword] as string}`,
    });
  }
}
