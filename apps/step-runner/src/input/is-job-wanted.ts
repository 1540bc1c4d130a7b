import { complain, errors, output, terminalOf } from "@steps/console/terminal";
import type { JudgedJob } from "@steps/gitlab-ci";
import { explainDecision } from "@steps/gitlab-ci/rules";
import { createMasker } from "@steps/trace/mask";
import { confirm } from "../confirm.ts";
import type { MaskOptions } from "./diagnose.ts";
import type { JudgedOptions } from "../situation/situation-flags.ts";

/** The options that say what is done with a job that its rules exclude. */
export type WantedOptions = Pick<JudgedOptions, "force"> &
  MaskOptions & { readonly quiet: boolean; readonly maskVariable: readonly string[] };

/** Prints why a job runs or not. */
export async function printExplanation(options: WantedOptions, name: string, judged: JudgedJob): Promise<void> {
  const masker = createMasker();
  for (const secret of options.mask ?? []) masker.add(secret);
  const lines = explain(options, name, judged).flat();
  await output.write(Buffer.from(`${masker.text(lines.join("\n"))}\n`));
}

function explain(
  { maskVariable }: WantedOptions,
  jobName: string,
  { workflow, job }: JudgedJob,
): readonly (readonly string[])[] {
  const isMasked = (variable: string): boolean => maskVariable.includes(variable);
  const ofJob = explainDecision(job, { jobName, isMasked });
  return workflow === undefined ? [ofJob] : [explainDecision(workflow, { isMasked }), ofJob];
}

/**
 * Whether a job is to be run: one that its rules exclude, or that is started by hand, only if the user insists. On a terminal the
 * user is asked.
 */
export async function isJobWanted(options: WantedOptions, name: string, judged: JudgedJob): Promise<boolean> {
  const why = reasonAgainst(name, judged);
  if (why === undefined) return true;
  if (options.force) {
    if (!options.quiet) complain(`${why} It is run all the same.`);
    return true;
  }
  if (process.stdin.isTTY && terminalOf(2).isTerminal) {
    await errors.write(Buffer.from(`${why}\n`));
    return confirm("Run it all the same?");
  }
  complain(`${why} It is not run.`, "--force runs it all the same, --explain tells each rule.");
  return false;
}

function reasonAgainst(jobName: string, { workflow, job }: JudgedJob): string | undefined {
  if (workflow?.isIn === false) return explainDecision(workflow)[0];
  if (!job.isIn) return explainDecision(job, { jobName })[0];
  return job.when === "manual" ? `The job "${jobName}" is started by hand.` : undefined;
}
