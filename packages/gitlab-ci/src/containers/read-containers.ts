import { createObject } from "@steps/model";
import { quote } from "@steps/model/diagnostic";
import { childOf, Report, type YamlNode } from "@steps/source";
import type { CiReport } from "../ci-rules.ts";
import { toCiText, toCiValue } from "../load/ci-value.ts";
import type { LoadedJob } from "../load/loaded-pipeline.ts";
import { isList, isMapping, isNull } from "../load/nodes.ts";
import { expandKeyword } from "../variables/expand-keyword.ts";
import { expandVariables, type RawVariable } from "../variables/expand-variables.ts";
import { readVariables, type VariableReport } from "../variables/read-variables.ts";
import { inputFiller } from "./fill-job-inputs.ts";
import { aliasesOf, hostNamesOf } from "./host-names.ts";
import type { JobImage, JobService, PullPolicy } from "./job-image.ts";

type Variables = Readonly<Record<string, string>>;

/** The values that are filled into the keywords of containers. */
export interface ContainerValues {
  /** The variables of the job, expanded. */
  readonly variables: Variables;
  /** The inputs that the job is given, as texts by their names. Default: none, so that each has its default. */
  readonly inputs?: Readonly<Record<string, string>> | undefined;
}

/** GitLab's own limit for lists in lists. */
const MAX_DEPTH = 10;

/**
 * Reads the `image` of a job, its own or inherited, and fills its variables in once, as the runner does; a name that is no variable
 * is empty. `undefined` for a job without one, and for one whose name is wrong once it is filled in, which is reported.
 */
export function readImage(job: LoadedJob, values: ContainerValues, report: CiReport): JobImage | undefined {
  const { variables, inputs = {} } = values;
  const node = job.keywords.get("image")?.value;
  if (node === undefined || isNull(node)) return undefined;
  return readContainer(inputFiller(job, inputs, report)(node), { keyword: "image", variables, report });
}

/** Reads the `services` of a job in the same way, in their order. */
export function readServices(job: LoadedJob, values: ContainerValues, report: CiReport): readonly JobService[] {
  const { variables, inputs = {} } = values;
  const node = job.keywords.get("services")?.value;
  if (node === undefined || isNull(node)) return [];
  return flatten(inputFiller(job, inputs, report)(node), 0).flatMap((item) => {
    const image = readContainer(item, { keyword: "services", variables, report });
    return image === undefined ? [] : [readService(image, item, variables)];
  });
}

interface Reading {
  readonly keyword: "image" | "services";
  readonly variables: Variables;
  readonly report: CiReport;
}

function readContainer(node: YamlNode, reading: Reading): JobImage | undefined {
  const named = isMapping(node) ? childOf(node, "name") : node;
  // The loader reported what has no name.
  if (named?.kind !== "scalar") return undefined;
  const fill = (text: string): string => {
    const { keyword, variables } = reading;
    return expandKeyword(keyword, text, (name) => (Object.hasOwn(variables, name) ? variables[name] : undefined));
  };
  const written = textOf(named);
  const name = fill(written);
  if (!isImageName(name, { node: named, written }, reading)) return undefined;
  const docker = childOf(node, "docker");
  const ofDocker = (key: string): string | undefined => {
    const value = childOf(docker, key);
    const text = value === undefined ? "" : fill(textOf(value));
    return text === "" ? undefined : text;
  };
  return {
    name,
    // Not filled in: a shell of the container may read the same words.
    entrypoint: wordsOf(childOf(node, "entrypoint")),
    pullPolicies: (wordsOf(childOf(node, "pull_policy")) ?? []) as readonly PullPolicy[],
    platform: ofDocker("platform"),
    user: ofDocker("user"),
    node: named,
  };
}

function isImageName(
  name: string,
  { node, written }: { readonly node: YamlNode; readonly written: string },
  { keyword, report }: Reading,
): boolean {
  if (name !== "" && !name.startsWith("-") && !/[\s\0]/.test(name)) return true;
  const filled = name === written ? "" : `, which becomes ${name === "" ? "nothing" : quote(name)}`;
  report.error(node, {
    code: "invalid-image",
    message: `"${keyword}" names no image: ${quote(written)}${filled}`,
    hint: written.includes("$") ? "Give the variables that it refers to, as with --variable." : undefined,
  });
  return false;
}

function readService(image: JobImage, node: YamlNode, variables: Variables): JobService {
  const alias = childOf(node, "alias");
  const aliases = alias === undefined ? [] : aliasesOf(textOf(alias));
  return {
    ...image,
    hostNames: [...new Set([...aliases, ...hostNamesOf(image.name)])],
    command: wordsOf(childOf(node, "command")),
    variables: variablesOf(childOf(node, "variables"), variables),
  };
}

function variablesOf(node: YamlNode | undefined, ofJob: Variables): Variables {
  // The loader reported what is wrong with them.
  const reported: VariableReport = new Report();
  const own = readVariables(node, "job", reported);
  const known = new Map<string, RawVariable>(
    Object.entries(ofJob).map(([name, value]) => [name, { value, isRaw: true }]),
  );
  for (const [name, variable] of own) known.set(name, { ...variable, below: known.get(name) });
  const { values } = expandVariables(known);
  return createObject([...own.keys()].map((name) => [name, values[name] ?? ""] as const));
}

/** A text is one word. */
function wordsOf(node: YamlNode | undefined): readonly string[] | undefined {
  if (node === undefined || isNull(node)) return undefined;
  return flatten(node, 0).map(textOf);
}

function flatten(node: YamlNode, depth: number): readonly YamlNode[] {
  if (!isList(node)) return [node];
  return depth > MAX_DEPTH ? [] : node.items.flatMap((item) => flatten(item, depth + 1));
}

function textOf(node: YamlNode): string {
  return toCiText(toCiValue(node), node);
}
