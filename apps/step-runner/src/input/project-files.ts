import { type FilesOf, type Situation, SituationError } from "@steps/gitlab-ci/rules";
import type { IncludeOptions } from "../flags/include-flags.ts";
import { type EngineFlagOptions, openEngine } from "../open-engine.ts";
import { StopSignals } from "../signals.ts";
import { type IncludePlace, openIncludes } from "@steps/ci-project";

/** A situation that knows the files of other projects, too, from where their files are included: `rules:exists:project`. */
export function withProjectFiles(
  options: Partial<IncludeOptions> & EngineFlagOptions,
  { local, workDir }: Pick<IncludePlace, "local" | "workDir">,
): Situation {
  const { situation } = local;
  // Many jobs ask for the same.
  const asked = new Map<string, Promise<readonly string[]>>();
  const ask = async (from: FilesOf): Promise<readonly string[]> => {
    await using engine = openEngine(options);
    using stop = new StopSignals();
    const files = await openIncludes(options, { engine, local, workDir, signal: stop.signal }).filesOf(from);
    if (!("problem" in files)) return files;
    throw new SituationError(`The files of the project ${from.project ?? ""} are not known: ${files.problem}`);
  };
  return {
    ...situation,
    trackedFiles: (from) => {
      const { project, ref } = from;
      if (project === undefined || (project === situation.projectPath && ref === undefined))
        return situation.trackedFiles?.({}) ?? [];
      const key = JSON.stringify([project, ref]);
      const found = asked.get(key) ?? ask(from);
      asked.set(key, found);
      return found;
    },
  };
}
