import type { YamlMapping, YamlNode, YamlScalar } from "@steps/source";
import { readPsychScalar } from "../psych.ts";
import type { JobInstance, LoadedJob, LoadedPipeline } from "../load/loaded-pipeline.ts";
import { ownMatrixName } from "../load/jobs/matrix-name.ts";
import { isList, isMapping, stringOf } from "../load/nodes.ts";

/** A job that another one needs. */
export interface Need {
  /** The name of the job, of one instance where it has several. */
  readonly job: string;
  /** True where its artifacts are handed on. */
  readonly hasArtifacts: boolean;
  /** Whether the job may be missing from the pipeline. */
  readonly isOptional: boolean;
  /** The place in the file. */
  readonly node: YamlNode;
}

/** A job of another pipeline that a job needs, for its artifacts alone. */
export interface ForeignNeed {
  /** The path of its project, `group/name`; absent for a pipeline of the same project. */
  readonly project: string | undefined;
  readonly job: string;
  /** The place in the file. */
  readonly node: YamlNode;
}

/**
 * Reads what `needs` asks of other pipelines: `needs:project`, and `needs:pipeline` with a job. Without `artifacts` nothing is asked
 * of them.
 */
export function readForeignNeeds(node: YamlNode | undefined): readonly ForeignNeed[] {
  if (node === undefined) return [];
  return itemsOf(node).flatMap((item): ForeignNeed[] => {
    if (!isMapping(item) || (!item.entries.has("project") && !item.entries.has("pipeline"))) return [];
    const job = stringOf(item.entries.get("job")?.value);
    const isWanted = booleanOf(item, "artifacts") ?? true;
    if (job === undefined || !isWanted) return [];
    return [{ project: stringOf(item.entries.get("project")?.value), job, node: item }];
  });
}

/**
 * Reads `needs` as jobs of the same pipeline ([needs](https://docs.gitlab.com/ci/yaml/#needs)). The name of a job with `parallel`
 * stands for all of its instances, or for those that `parallel:matrix` names, where `$[[ matrix.NAME ]]` is the value that the
 * instance of the job itself has. Needs of other pipelines and projects are left out.
 *
 * @param instance - The instance of the job whose needs they are; absent for a job that has no instances.
 */
export function readNeeds(
  node: YamlNode,
  { jobs, groups }: Pick<LoadedPipeline, "jobs" | "groups">,
  instance?: JobInstance,
): readonly Need[] {
  const instancesOf = (name: string): readonly LoadedJob[] => {
    const exact = jobs.get(name);
    return exact === undefined ? (groups.get(name) ?? []) : [exact];
  };
  return itemsOf(node).flatMap((item): Need[] => {
    const mapping = isMapping(item) ? item : undefined;
    if (mapping?.entries.has("pipeline") === true || mapping?.entries.has("project") === true) return [];
    const name = stringOf(mapping === undefined ? item : mapping.entries.get("job")?.value);
    if (name === undefined) return [];
    const common = {
      hasArtifacts: booleanOf(mapping, "artifacts") ?? true,
      isOptional: booleanOf(mapping, "optional") ?? false,
      node: item,
    };
    const wanted = matrixOf(mapping, instance);
    const found = instancesOf(name).filter(
      (job) => wanted.length === 0 || wanted.some((values) => hasValues(job, values)),
    );
    // A job that nothing is known of is a need all the same: whoever plans says that it is missing.
    const names = found.length === 0 ? [name] : found.map((job) => job.name);
    return names.map((job) => ({ job, ...common }));
  });
}

// `!reference` leaves lists in lists.
function itemsOf(node: YamlNode): readonly YamlNode[] {
  return isList(node) ? node.items.flatMap(itemsOf) : [node];
}

function booleanOf(mapping: YamlMapping | undefined, key: string): boolean | undefined {
  const node = mapping?.entries.get(key)?.value;
  return node?.kind === "scalar" ? readPsychScalar(node).text === "true" : undefined;
}

type Values = ReadonlyMap<string, ReadonlySet<string>>;

function matrixOf(mapping: YamlMapping | undefined, instance: JobInstance | undefined): readonly Values[] {
  const parallel = mapping?.entries.get("parallel")?.value;
  const matrix = parallel !== undefined && isMapping(parallel) ? parallel.entries.get("matrix")?.value : undefined;
  return (matrix === undefined ? [] : itemsOf(matrix))
    .filter(isMapping)
    .map(
      ({ entries }): Values =>
        new Map(
          [...entries].map(([name, { value }]) => [
            name,
            new Set(itemsOf(value).flatMap((item) => (item.kind === "scalar" ? [valueOf(item, instance)] : []))),
          ]),
        ),
    );
}

function hasValues({ instance }: LoadedJob, values: Values): boolean {
  return [...values].every(([name, wanted]) => {
    const node = instance?.variables.get(name);
    return node?.kind === "scalar" && wanted.has(readPsychScalar(node).text);
  });
}

function valueOf(node: YamlScalar, instance: JobInstance | undefined): string {
  const { text } = readPsychScalar(node);
  const own = instance?.variables.get(ownMatrixName(node) ?? "");
  return own?.kind === "scalar" ? readPsychScalar(own).text : text;
}
