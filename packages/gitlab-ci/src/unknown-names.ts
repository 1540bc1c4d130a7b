import type { CompileOptions } from "@steps/compiler";
import type { JobDecision } from "./rules/decide.ts";

/**
 * The treatment of names in `run` of a job that are certain to be unknown, for `compileJob()` before the job runs: errors only where
 * the pipeline could not pass with them, since the job runs without being started by hand and may not fail.
 */
export function unknownNamesOf({
  when,
  allowFailure,
}: Pick<JobDecision, "when" | "allowFailure">): CompileOptions["unknownNames"] {
  const isCertain = (when === "on_success" || when === "always") && allowFailure === false;
  return isCertain ? "run" : "warning";
}
