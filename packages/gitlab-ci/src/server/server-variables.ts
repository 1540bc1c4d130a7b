import type { LoadedJob, LoadedPipeline } from "../load/loaded-pipeline.ts";
import {
  type CollectedVariable,
  collectVariables,
  plainVariables,
  type VariableSources,
} from "../variables/collect-variables.ts";
import { expandVariables, type RawVariable } from "../variables/expand-variables.ts";
import { readFileVariables } from "../variables/job-variables.ts";

/** A variable as a runner gets it. */
export interface ServerVariable {
  readonly key: string;
  readonly value: string;
  readonly public: boolean;
  readonly masked: boolean;
  readonly file: boolean;
  /** Whether the runner takes the value as it is. */
  readonly raw: boolean;
}

/** The server says these itself when a runner takes the job, and they mean something else before. */
const SAID_LATER: readonly string[] = [
  "CI_API_GRAPHQL_URL",
  "CI_API_V4_URL",
  "CI_PIPELINE_IID",
  "CI_SERVER_FQDN",
  "CI_SERVER_HOST",
  "CI_SERVER_PORT",
  "CI_SERVER_PROTOCOL",
  "CI_SERVER_SHELL_SSH_HOST",
  "CI_SERVER_URL",
];

/** Stands for a reference to a variable that is not known yet: no file of YAML can hold these characters. */
const MARK = { start: "\u0001", end: "\u0002" } as const;

/**
 * The variables of a job for its runner, expanded as GitLab's server expands them: references to what only the server or the runner
 * knows later stay, for the runner to fill in.
 */
export function serverVariables(
  { root }: Pick<LoadedPipeline, "root">,
  job: LoadedJob,
  sources: VariableSources,
): readonly ServerVariable[] {
  const { global, job: own, matrix } = readFileVariables(root, job);
  const said = new Map([...(sources.predefined ?? [])].filter(([name]) => !SAID_LATER.includes(name)));
  const predefined = new Map([...said, ...plainVariables(instanceVariables(job))]);
  const collected = collectVariables({ ...sources, predefined, global, job: own, matrix });
  const { values } = expandVariables(new Map([...collected, ...unknownIn(collected)]));
  return Array.from(collected, ([key, variable]) => toServer(key, variable, values[key] ?? ""));
}

function instanceVariables({ instance }: LoadedJob): Readonly<Record<string, string>> {
  if (instance === undefined) return {};
  return { CI_NODE_INDEX: String(instance.index), CI_NODE_TOTAL: String(instance.total) };
}

const NAME = /\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})/g;

function unknownIn(collected: ReadonlyMap<string, CollectedVariable>): ReadonlyMap<string, RawVariable> {
  const unknown = new Map<string, RawVariable>();
  for (const { value, isRaw } of layersOf(collected)) {
    for (const [, plain, braced] of isRaw ? [] : value.matchAll(NAME)) {
      const name = plain ?? braced ?? "";
      if (!collected.has(name)) unknown.set(name, { value: `${MARK.start}${name}${MARK.end}`, isRaw: true });
    }
  }
  return unknown;
}

function* layersOf(collected: ReadonlyMap<string, RawVariable>): Generator<RawVariable> {
  for (const variable of collected.values()) {
    for (let layer: RawVariable | undefined = variable; layer !== undefined; layer = layer.below) yield layer;
  }
}

function toServer(
  key: string,
  { isMasked = false, isFile = false, source }: CollectedVariable,
  text: string,
): ServerVariable {
  const isOpen = text.includes(MARK.start);
  // A dollar that is a dollar must not be read again with the references that are left.
  const value = isOpen ? text.replaceAll("$", "$$$$").replaceAll(MARK.start, "${").replaceAll(MARK.end, "}") : text;
  const isPublic = !isMasked && (source === "predefined" || source === "user");
  return { key, value, public: isPublic, masked: isMasked, file: isFile, raw: !isOpen };
}
