import type { Run } from "@steps/executor/kit";
import type { Environment, EnvironmentRecord } from "@steps/model/environment";
import type { ActionJob } from "../job/action-job.ts";
import { pathAbove } from "./command-effects.ts";

interface PathsToJoin {
  readonly job: ActionJob;
  readonly before: string;
  readonly exports: readonly EnvironmentRecord[];
}

/**
 * Puts the folders that steps which ran at the same time have added in front of the PATH of all steps to come, in the order of
 * the steps. Returns the exports.
 */
export function joinPaths(
  run: Run,
  environment: Environment,
  { job, before, exports }: PathsToJoin,
): EnvironmentRecord {
  const known = new Set(before.split(":"));
  const added = exports.map(({ PATH }) => (typeof PATH === "string" ? PATH.split(":") : []));
  const folders = added.flatMap((path) => path.filter((folder) => !known.has(folder)).toReversed());
  if (folders.length === 0) return {};
  const own = run.branch === undefined ? job.addPaths(folders) : folders.toReversed();
  const joined = { PATH: pathAbove(own, before) };
  environment.export(joined);
  return joined;
}
