import { markVariables } from "@steps/engine/environment";
import type { Job } from "@steps/model";
import { givenByFlags } from "../flags/job-flags.ts";
import type { RunOptions } from "../flags/run-flags.ts";

/** A job as a command knows it: without the fields that the flags give (`runFlags`). */
export type CommandJob = Omit<Job, "offeredEnv" | "grants" | "maskedValues" | "mode">;

/** A job with the fields that the flags give. */
export function withFlags(
  options: Pick<RunOptions, "mask" | "maskVariable"> & Parameters<typeof givenByFlags>[0],
  job: CommandJob,
): Job {
  const given = givenByFlags(options);
  const { maskedValues, ...marked } = markVariables(
    { vars: job.vars, env: job.env, offeredEnv: given.offeredEnv },
    options.maskVariable,
  );
  return { ...job, ...given, ...marked, maskedValues: [...options.mask, ...maskedValues] };
}
