import type { StoredJob } from "@steps/builtins/run";
import { complain } from "@steps/console/terminal";
import type { ForeignNeed, PlannedJob } from "@steps/gitlab-ci/pipeline";
import { spanPosition } from "@steps/source";
import type { NeedsOptions } from "../../flags/needs-flags.ts";
import type { CiContext, CiPipeline } from "./ci-pipeline.ts";
import { storesOf } from "./stores-of.ts";

/** Puts what a job needs of other pipelines into the store of its own one. Gives the names that it has there. */
export async function foreignArtifacts(
  context: CiContext,
  { path, parent }: CiPipeline,
  { foreignNeeds }: PlannedJob,
): Promise<readonly string[]> {
  if (foreignNeeds.length === 0) return [];
  const { keepFolder } = await import("@steps/builtins/run");
  const { artifactsDir } = storesOf(context, path);
  const names: string[] = [];
  for (const need of foreignNeeds) {
    const to = { artifactsDir, job: nameOf(need) };
    const folder = folderOf(context.options, need);
    if (folder !== undefined) {
      await keepFolder(folder, to);
      names.push(to.job);
    }
    if (need.project === undefined && (await shareFrom(context, parent, { need, to }))) names.push(to.job);
  }
  return names;
}

interface Share {
  readonly need: ForeignNeed;
  readonly to: StoredJob;
}

// The pipeline that is meant is told by a number, which all pipelines of a run share: it can only be one of those around.
async function shareFrom(context: CiContext, parent: CiPipeline | undefined, { need, to }: Share): Promise<boolean> {
  if (parent === undefined) return false;
  const { shareArtifacts } = await import("@steps/builtins/run");
  const from = { artifactsDir: storesOf(context, parent.path).artifactsDir, job: need.job };
  return (await shareArtifacts(from, to)) || (await shareFrom(context, parent.parent, { need, to }));
}

/** Says in one line which artifacts of other pipelines jobs do without, and how they get them. */
export function tellForeignNeeds(options: NeedsOptions, needs: readonly ForeignNeed[]): void {
  const missing = needs.filter((need) => folderOf(options, need) === undefined);
  if (missing.length === 0) return;
  const places = new Map(missing.toReversed().map((need) => [nameOf(need), placeOf(need)]));
  const shown = [...places]
    .toReversed()
    .map(([name, place]) => `${name} (${place})`)
    .join(", ");
  const hasProject = missing.some(({ project }) => project !== undefined);
  complain(
    `Artifacts of other pipelines are not here, and jobs run without them: ${shown}`,
    hasProject ? "--needs-map PROJECT:JOB=FOLDER takes those of a project from a folder." : undefined,
  );
}

function folderOf({ needsMap }: NeedsOptions, { project, job }: ForeignNeed): string | undefined {
  const name = `${project ?? ""}:${job}`;
  return Object.hasOwn(needsMap, name) ? needsMap[name] : undefined;
}

function nameOf({ project, job }: ForeignNeed): string {
  return project === undefined ? `${job} of another pipeline` : `${project}:${job}`;
}

function placeOf({ node }: ForeignNeed): string {
  const { source, line } = spanPosition(node);
  return `${source.name}:${line}`;
}
