import type { IncludeRules } from "../load/load-file.ts";
import { checkPatterns, conditionsOf } from "./decide-condition.ts";
import { type DecideOptions, decidePipeline } from "./decide.ts";
import { loadPatterns } from "./if/patterns.ts";
import { readRules } from "./read-rules.ts";
import type { Situation } from "./situation.ts";

/**
 * Decides the `rules` of includes for `loadPipeline()`. `exists` looks in the project of the file that holds the include. Rules that
 * are wrong or cannot be decided are reported and let nothing in.
 *
 * @param options - The variables that an include sees: those of the project, of settings and of the pipeline, none of files.
 */
export function createIncludeRules({ situation, variables, patterns = loadPatterns }: DecideOptions): IncludeRules {
  return async (node, { context, report }) => {
    const rules = readRules(node, "include", report);
    await checkPatterns(conditionsOf({ rules }), patterns, report);
    if (report.hasErrors) return false;
    const { isIn, by, reason } = await decidePipeline(rules, {
      situation: within(situation, context ?? {}),
      variables,
      patterns,
    });
    if (by.kind === "problem") report.error(by.node, { code: "invalid-rules", message: reason });
    return isIn;
  };
}

function within(
  situation: Situation,
  { project, ref }: { readonly project?: string | undefined; readonly ref?: string | undefined },
): Situation {
  const { trackedFiles } = situation;
  if (trackedFiles === undefined) return situation;
  return {
    ...situation,
    trackedFiles: (from) => trackedFiles(from.project === undefined ? { project, ref: from.ref ?? ref } : from),
  };
}
