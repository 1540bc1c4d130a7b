import type { YamlNode } from "@steps/source";
import type { RawVariable } from "./expand-variables.ts";

/** A variable as one source gives it, before anything is expanded. */
export interface Variable extends RawVariable {
  /** Whether a process gets the path of a file that holds the value; no by default. */
  readonly isFile?: boolean | undefined;
  /** Whether the value must not be shown; no by default. */
  readonly isMasked?: boolean | undefined;
  /** The value in a file; absent for a variable that no file declares. */
  readonly node?: YamlNode | undefined;
}

/**
 * The sources of variables, beginning with the one that loses to all others. The order is that in which GitLab's
 * `Ci::Variables::Builder` puts them together: what the settings of a project say wins over what its files say.
 */
export const VARIABLE_SOURCES = [
  /** Predefined variables of the project, the commit, the pipeline and the job. */
  "predefined",
  /** Variables of the cluster that the environment belongs to. */
  "deployment",
  /** `variables` at the top of the configuration. */
  "global",
  /** `variables` of the rule of `workflow` that let the pipeline in. */
  "workflow",
  /** `variables` of the job. */
  "job",
  /** The instance's own of `parallel:matrix`. */
  "matrix",
  /** `variables` of the rule that let the job in. */
  "rule",
  /** Who started the pipeline: `GITLAB_USER_*`. */
  "user",
  /** Those of `artifacts:reports:dotenv` of jobs before this one. */
  "dotenv",
  /** The settings of the GitLab instance. */
  "instance",
  /** The settings of the groups of the project. */
  "group",
  /** The settings of the project. */
  "project",
  /** Given with the pipeline: by hand, by a trigger, a schedule or the pipeline before it. */
  "pipeline",
  /** Variables that exist once the environment of the job does: `CI_ENVIRONMENT_SLUG`, `CI_ENVIRONMENT_URL`. */
  "environment",
] as const;

/** A source of variables. */
export type VariableSource = (typeof VARIABLE_SOURCES)[number];

/** The variables of each source by their names. A source that is absent has none. */
export type VariableSources = Readonly<Partial<Record<VariableSource, ReadonlyMap<string, Variable>>>>;

/** A variable with the source that won. */
export interface CollectedVariable extends Variable {
  readonly source: VariableSource;
  /** The variable of the same name that lost to this one, which its value may refer to. Absent when there is none. */
  readonly below?: CollectedVariable | undefined;
}

/** All variables by their names, each from the source that wins, not expanded. */
export type CollectedVariables = ReadonlyMap<string, CollectedVariable>;

/** The sources whose variables the rules of a job can see: what is known before the job is. */
const SOURCES_OF_RULES: ReadonlySet<VariableSource> = new Set(
  VARIABLE_SOURCES.filter((source) => !["rule", "dotenv", "environment"].includes(source)),
);

/** Puts the variables of all sources together. */
export function collectVariables(sources: VariableSources): CollectedVariables {
  const collected = new Map<string, CollectedVariable>();
  for (const source of VARIABLE_SOURCES) {
    for (const [name, variable] of sources[source] ?? []) {
      const below = collected.get(name);
      // GitLab merges the sources in files before it adds the others, so only the last value of these is left.
      const isReplaced = below !== undefined && isOfFiles(source) && isOfFiles(below.source);
      collected.set(name, { ...variable, source, below: isReplaced ? below.below : below });
    }
  }
  return collected;
}

function isOfFiles(source: VariableSource): boolean {
  return ["global", "workflow", "job", "matrix", "rule"].includes(source);
}

/** The same without what the rules of a job cannot see: their own variables, those of dotenv reports and of the environment. */
export function collectVariablesOfRules(sources: VariableSources): CollectedVariables {
  const seen = Object.entries(sources).filter(([source]) => SOURCES_OF_RULES.has(source as VariableSource));
  return collectVariables(Object.fromEntries(seen));
}

/** Variables that are taken as they stand. */
export function plainVariables(values: Readonly<Record<string, string>>): ReadonlyMap<string, Variable> {
  return new Map(Object.entries(values).map(([name, value]) => [name, { value, isRaw: true }]));
}
