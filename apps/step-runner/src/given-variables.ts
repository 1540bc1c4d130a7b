import { type GivenOptions, variablesFromEnvironment } from "./job-flags.ts";
import type { JobOptions } from "./read-job.ts";

/** The job variables that flags give: one by one before those of the environment. */
export function givenVariables(options: Pick<JobOptions, "variable"> & Partial<GivenOptions>): Record<string, string> {
  return { ...variablesFromEnvironment(options), ...options.variable };
}
