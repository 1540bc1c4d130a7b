import type { YamlNode } from "@steps/source";
import type { CiReport } from "../../ci-rules.ts";
import { isList, isNull, stringOf } from "../nodes.ts";

const DEFAULT_STAGES: readonly string[] = ["build", "test", "deploy"];

/** The stages of a configuration, lists in lists flattened, between `.pre` and `.post`. */
export function readStages(node: YamlNode | undefined, report: CiReport): readonly string[] {
  const names = node === undefined || isNull(node) ? DEFAULT_STAGES : flatten(node, report);
  return [...new Set([".pre", ...names.filter((name) => name !== ".pre" && name !== ".post"), ".post"])];
}

function flatten(node: YamlNode, report: CiReport): readonly string[] {
  if (isList(node)) return node.items.flatMap((item) => flatten(item, report));
  const name = stringOf(node);
  if (name !== undefined) return [name];
  report.error(node, { code: "wrong-type", message: `"stages" takes names, and lists of names` });
  return [];
}
