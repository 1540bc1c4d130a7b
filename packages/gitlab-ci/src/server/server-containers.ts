import { childOf, Report, type YamlNode } from "@steps/source";
import { recordOf, textsOf } from "../compile/keyword-values.ts";
import { toCiText } from "../load/ci-value.ts";
import type { LoadedJob } from "../load/loaded-pipeline.ts";
import { isList, isMapping, isNull } from "../load/nodes.ts";
import { readVariables } from "../variables/read-variables.ts";

/** An image of a job or of a service, as a runner gets it. */
export interface ServerImage {
  readonly name: string;
  readonly alias: string;
  readonly command: readonly string[];
  readonly entrypoint: readonly string[];
  readonly ports: readonly never[];
  readonly variables: readonly {
    readonly key: string;
    readonly value: string;
    readonly file: boolean;
    readonly raw: boolean;
  }[];
  readonly pull_policy: readonly string[];
  readonly executor_opts: {
    readonly docker?: { readonly platform: string; readonly user: string } | undefined;
    readonly kubernetes?: { readonly user: string } | undefined;
  };
}

/** `image` of a job; the runner fills variables in. */
export function serverImage({ keywords }: LoadedJob): ServerImage | null {
  const node = keywords.get("image")?.value;
  return node === undefined || isNull(node) ? null : toImage(node);
}

/** `services` of a job. */
export function serverServices({ keywords }: LoadedJob): readonly ServerImage[] {
  return itemsOf(keywords.get("services")?.value).map(toImage);
}

// `!reference` leaves lists in lists.
function itemsOf(node: YamlNode | undefined): readonly YamlNode[] {
  if (node === undefined || isNull(node)) return [];
  return isList(node) ? node.items.flatMap(itemsOf) : [node];
}

function toImage(node: YamlNode): ServerImage {
  const record = isMapping(node) ? recordOf(node) : { name: node.kind === "scalar" ? node.text : "" };
  const text = (key: string): string => {
    const value = record[key];
    return value === undefined || value === null ? "" : toCiText(value);
  };
  // The loader reported what is wrong with them.
  const variables = readVariables(childOf(node, "variables"), "job", new Report());
  const docker = recordOf(childOf(node, "docker"));
  const user = toCiText(docker["user"] ?? "");
  const podUser = toCiText(recordOf(childOf(node, "kubernetes"))["user"] ?? "");
  return {
    name: text("name"),
    alias: text("alias"),
    command: textsOf(record["command"]),
    entrypoint: textsOf(record["entrypoint"]),
    ports: [],
    variables: Array.from(variables, ([key, { value, isRaw }]) => ({ key, value, file: false, raw: isRaw })),
    pull_policy: textsOf(record["pull_policy"]),
    executor_opts: {
      docker: Object.keys(docker).length === 0 ? undefined : { platform: toCiText(docker["platform"] ?? ""), user },
      kubernetes: podUser === "" ? undefined : { user: podUser },
    },
  };
}
