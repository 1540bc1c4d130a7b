import { createObject } from "@steps/model";
import { UsageError } from "@steps/console";
import { type GivenOptions, variablesFromEnvironment } from "../flags/job-flags.ts";
import type { JobOptions } from "./read-job.ts";

/** The job variables that flags give: one by one before those of the environment. */
export function givenVariables(options: Pick<JobOptions, "variable"> & Partial<GivenOptions>): Record<string, string> {
  return { ...variablesFromEnvironment(options), ...options.variable };
}

/** Reads `NAME=VALUE` of `--input`, in the order in which they were given. @throws {UsageError} */
export function readInputs(given: readonly string[]): Record<string, string> {
  const inputs = createObject<string>();
  for (const text of given) {
    const at = text.indexOf("=");
    if (at < 1) throw new UsageError(`--input is "${text}"`, "It takes a name and a value: --input NAME=VALUE.");
    inputs[text.slice(0, at)] = text.slice(at + 1);
  }
  return inputs;
}
