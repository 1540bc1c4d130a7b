import type { YamlNode } from "@steps/source";
import type { CiReport } from "../ci-rules.ts";
import type { LoadedJob } from "../load/loaded-pipeline.ts";
import { readPsychScalar } from "../psych.ts";
import { loadPatterns, PatternError, type PatternParts, readPattern } from "../rules/if/patterns.ts";

/** `coverage` ([coverage](https://docs.gitlab.com/ci/yaml/#coverage)). `undefined` without one, and for what is no pattern. */
export function readCoverage(node: YamlNode | undefined, report: CiReport): PatternParts | undefined {
  if (node?.kind !== "scalar") return undefined;
  const parts = readPattern(readPsychScalar(node).text);
  if (parts === undefined)
    report.error(node, {
      code: "invalid-value",
      message: `"coverage" is no pattern between slashes`,
      hint: String.raw`Write '/Total: \d+\.\d+%/'.`,
    });
  return parts;
}

/** Reports the patterns of `coverage` that RE2 refuses. The engine is asked for only if there are any. */
export async function checkCoverage(jobs: readonly LoadedJob[], report: CiReport): Promise<void> {
  for (const { keywords } of jobs) {
    const node = keywords.get("coverage")?.value;
    const parts = node?.kind === "scalar" ? readPattern(readPsychScalar(node).text) : undefined;
    if (parts === undefined) continue;
    const compile = await loadPatterns();
    try {
      compile(parts.body, parts.flags);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      report.error(node, {
        code: "invalid-value",
        message: `"coverage" is no pattern: ${error.message}`,
        hint: "Patterns are those of RE2: no look-around and no references to groups.",
      });
    }
  }
}
