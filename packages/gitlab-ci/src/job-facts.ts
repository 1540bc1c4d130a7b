import { childOf, type YamlNode } from "@steps/source";
import { readTimeoutMs } from "./compile/job-terms.ts";
import type { LoadedJob } from "./load/loaded-pipeline.ts";
import { readPsychScalar } from "./psych.ts";
import type { JobRules } from "./rules/rule.ts";
import { collectVariables, type VariableSources } from "./variables/collect-variables.ts";
import { expandKeyword } from "./variables/expand-keyword.ts";
import { expandVariables } from "./variables/expand-variables.ts";
import type { EnvironmentFacts, JobFacts } from "./variables/predefined/facts.ts";

/** The facts that a job tells of itself, but its environment, whose name may hold variables that are made of them. */
export function jobFacts(job: LoadedJob, { when }: JobRules): JobFacts {
  const { name, stage, instance } = job;
  const timeoutMs = readTimeoutMs(job);
  return {
    name,
    stage,
    isManual: when === "manual",
    nodeIndex: instance?.index,
    nodeTotal: instance?.total,
    timeoutSeconds: timeoutMs === undefined ? undefined : timeoutMs / 1000,
  };
}

/**
 * The facts with the environment of the job ([environment](https://docs.gitlab.com/ci/yaml/#environment)), in whose name and
 * address variables are filled in.
 */
export function withEnvironment(facts: JobFacts, job: LoadedJob, sources: VariableSources): JobFacts {
  const node = job.keywords.get("environment")?.value;
  const environment = node && readEnvironment(node, sources);
  return environment === undefined ? facts : { ...facts, environment };
}

function readEnvironment(node: YamlNode, sources: VariableSources): EnvironmentFacts | undefined {
  const name = textOf(node) ?? textOf(childOf(node, "name"));
  if (name === undefined) return undefined;
  const { values } = expandVariables(collectVariables(sources));
  const valueOf = (variable: string): string | undefined =>
    Object.hasOwn(values, variable) ? values[variable] : undefined;
  const url = textOf(childOf(node, "url"));
  return {
    name: expandKeyword("environment:name", name, valueOf),
    url: url && expandKeyword("environment:url", url, valueOf),
    action: textOf(childOf(node, "action")),
    tier: textOf(childOf(node, "deployment_tier")),
  };
}

function textOf(node: YamlNode | undefined): string | undefined {
  return node?.kind === "scalar" ? readPsychScalar(node).text : undefined;
}
