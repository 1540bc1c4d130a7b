import { realpathSync } from "node:fs";
import { join } from "node:path";
import { errors } from "@steps/console/terminal";
import { readGitFacts } from "@steps/engine/github";
import { printable } from "@steps/model/diagnostic";
import { sha256, takeTurn } from "@steps/platform";
import type { PipelineContext } from "./pipeline-context.ts";

/** A group of jobs of which one runs at a time. */
export interface GroupOfJobs {
  /** The language of the pipeline: each has groups of its own. */
  readonly language: "github" | "gitlab-ci";
  readonly name: string;
}

/**
 * Waits until no other pipeline of the project on this machine runs in the group, and gives the function that ends the turn.
 * Copies of one repository share their groups. A run that was killed holds none.
 */
export function enterGroup(
  { project, stateDir, options }: Pick<PipelineContext, "project" | "stateDir" | "options">,
  { language, name }: GroupOfJobs,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const owner = readGitFacts(project).repository ?? realpathSync(project);
  const folder = join(stateDir, "groups", sha256(JSON.stringify([owner, language, name])));
  return takeTurn(folder, {
    signal,
    onWait: () => {
      if (!options.quiet) void errors.writeLines(`${printable(`Waiting for the turn of the group "${name}"`)}\n`);
    },
  });
}
