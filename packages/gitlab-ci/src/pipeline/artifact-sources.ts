import { hasArtifacts } from "../compile/pages-path.ts";
import { keywordValue, type LoadedPipeline } from "../load/loaded-pipeline.ts";
import type { PlannedJob } from "./decide-start.ts";

/**
 * Says of each job of a pipeline whose artifacts it gets before it starts, as the names of jobs in the order in which their files are
 * laid over each other: those of `needs` that hand artifacts on, or else all of earlier stages; `dependencies` leaves of them those
 * that it names ([dependencies](https://docs.gitlab.com/ci/yaml/#dependencies)). Jobs that keep no files are left out.
 */
export function artifactSources(
  { stages, groups }: Pick<LoadedPipeline, "stages" | "groups">,
  planned: readonly PlannedJob[],
): (job: PlannedJob) => readonly string[] {
  const ranks = new Map(stages.map((stage, index) => [stage, index]));
  const rankOf = ({ job }: PlannedJob): number => ranks.get(job.stage) ?? 0;
  const makers = planned.filter(({ job }) => hasArtifacts(job)).toSorted((a, b) => rankOf(a) - rankOf(b));
  const order = new Map(makers.map(({ job }, index) => [job.name, index]));
  // Jobs of one stage share the list, which may be long.
  const before = new Map<number, readonly string[]>();
  const ofStagesBefore = (rank: number): readonly string[] => {
    const known = before.get(rank) ?? makers.filter((maker) => rankOf(maker) < rank).map(({ job }) => job.name);
    before.set(rank, known);
    return known;
  };
  const sorted = (names: readonly string[]): readonly string[] =>
    [...new Set(names)].filter((name) => order.has(name)).toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
  return (one) => {
    const { job, needs } = one;
    const ofNeeds = needs?.filter(({ hasArtifacts }) => hasArtifacts).map((need) => need.job);
    const named = keywordValue(job, "dependencies");
    if (!Array.isArray(named)) return ofNeeds === undefined ? ofStagesBefore(rankOf(one)) : sorted(ofNeeds);
    const wanted = named
      .map(String)
      .flatMap((name) => (groups.get(name) ?? [{ name }]).map((instance) => instance.name));
    const allowed = ofNeeds && new Set(ofNeeds);
    return sorted(wanted.filter((name) => allowed?.has(name) !== false));
  };
}
