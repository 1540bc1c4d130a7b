import type { CompileContext } from "./compile-context.ts";
import { variableTemplate } from "./job-text.ts";
import { libraryStep, type Phase } from "./phase.ts";
import { isTrue } from "./script-phases.ts";

/**
 * `cleanup_file_variables`: removes the files of variables at the end of the job, and what the job has left in the project where
 * `FF_ENABLE_JOB_CLEANUP` asks for it. `undefined` where nothing is to be done.
 */
export function cleanupPhase({ job, variables }: CompileContext, prepare: Phase | undefined): Phase | undefined {
  const { values } = variables;
  const cleansProject = isTrue(values["FF_ENABLE_JOB_CLEANUP"]);
  if (prepare === undefined && !cleansProject) return undefined;
  const flags = (values["GIT_CLEAN_FLAGS"] ?? "") === "" ? "-ffdx" : variableTemplate("GIT_CLEAN_FLAGS");
  const isPrepared = `has(steps, "prepare") && steps.prepare.status == "success"`;
  return {
    name: "cleanup_file_variables",
    step: libraryStep("cleanup"),
    inputs: {
      ...(prepare === undefined ? {} : { tmp_dir: "${{ steps.prepare.outputs.tmp_dir }}" }),
      ...(cleansProject ? { clean_flags: flags } : {}),
    },
    control: prepare === undefined ? undefined : { condition: `\${{ ${isPrepared} }}` },
    node: prepare?.node ?? job.key,
    isLast: true,
  };
}
