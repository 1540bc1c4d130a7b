import type { Environment, EnvironmentRecord } from "@steps/model";
import type { Run } from "../run.ts";
import { pathAbove } from "./command-effects.ts";

/** What steps that ran at the same time have put in front of the PATH is there for all steps to come, in the order of the steps. */
export async function joinPaths(
  run: Run,
  environment: Environment,
  { before, exports }: { readonly before: string; readonly exports: readonly EnvironmentRecord[] },
): Promise<EnvironmentRecord> {
  const job = await run.state.actions;
  const known = new Set(before.split(":"));
  const added = exports.map(({ PATH }) => (typeof PATH === "string" ? PATH.split(":") : []));
  const folders = added.flatMap((path) => path.filter((folder) => !known.has(folder)).toReversed());
  if (job === undefined || folders.length === 0) return {};
  const own = run.branch === undefined ? job.addPaths(folders) : folders.toReversed();
  const joined = { PATH: pathAbove(own, before) };
  environment.export(joined);
  return joined;
}
