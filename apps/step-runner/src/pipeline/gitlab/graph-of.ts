import { isGate } from "@steps/gitlab-ci/pipeline";
import type { LoadedPipeline } from "@steps/gitlab-ci/load";
import type { GraphJob } from "@steps/pipeline";
import type { GraphNode } from "../print/listed-job.ts";

/** The graph of a pipeline for people: gates that nobody waits for, or that stand for no job, are left out. */
export function graphOf(
  jobs: readonly GraphJob[],
  { jobs: loaded }: Pick<LoadedPipeline, "jobs">,
): readonly GraphNode[] {
  // Each gate comes after the one that it needs.
  const meaning = new Map<string, string | undefined>();
  for (const { id, needs } of jobs) {
    const isEmpty = isGate(id) && needs.every(isGate);
    const [before] = needs;
    meaning.set(id, isEmpty ? before && meaning.get(before) : id);
  }
  const nodes = jobs
    .filter(({ id }) => meaning.get(id) === id)
    .map(({ id, needs }): GraphNode => {
      const real = needs.map((need) => meaning.get(need)).filter((need) => need !== undefined);
      return { id, needs: real, stage: loaded.get(id)?.stage, isGate: isGate(id) };
    });
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const followsGate = (id: string, gate: string): boolean => byId.get(id)?.needs.includes(gate) === true;
  const slim = nodes.map((node): GraphNode => {
    const gate = node.isGate === true ? node.needs.find(isGate) : undefined;
    const isImplied = gate !== undefined && node.needs.some((id) => followsGate(id, gate));
    return isImplied ? { ...node, needs: node.needs.filter((id) => id !== gate) } : node;
  });
  const awaited = new Set(slim.flatMap(({ needs }) => needs));
  return slim.filter(({ id, isGate: isPoint }) => isPoint !== true || awaited.has(id));
}
