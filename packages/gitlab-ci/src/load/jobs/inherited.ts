import type { YamlEntry, YamlMapping, YamlNode } from "@steps/source";
import { DEFAULT_KEYWORDS, TOP_LEVEL_DEFAULTS } from "../../keywords.ts";
import { readPsychScalar } from "../../psych.ts";
import type { CiReport } from "../../ci-rules.ts";
import { isList, isMapping, isNull, stringOf } from "../nodes.ts";

/** The keywords that jobs take from `default`, or from the top of the configuration, the deprecated spelling. */
export function readDefaults(root: YamlMapping, report: CiReport): ReadonlyMap<string, YamlEntry> {
  const defaults = new Map<string, YamlEntry>();
  const node = root.entries.get("default")?.value;
  for (const [keyword, entry] of isMapping(node) ? node.entries : []) {
    if (DEFAULT_KEYWORDS.includes(keyword) && !isNull(entry.value)) defaults.set(keyword, entry);
  }
  for (const keyword of TOP_LEVEL_DEFAULTS) {
    const entry = root.entries.get(keyword);
    if (entry === undefined || isNull(entry.value)) continue;
    if (defaults.has(keyword)) {
      report.error(entry.key, { code: "conflicting-keys", message: `"${keyword}" is also in "default"` });
    }
    defaults.set(keyword, entry);
  }
  return defaults;
}

/** The keywords and variables that a job takes from the top of its configuration. */
export interface Inherited {
  readonly default: (keyword: string) => boolean;
  readonly variables: (name: string) => boolean;
}

/** Reads `inherit`: true, false, or the list of names that are taken. Its shape was checked. */
export function readInherited(node: YamlNode | undefined): Inherited {
  const { entries } = isMapping(node) ? node : { entries: new Map<string, YamlEntry>() };
  return { default: readChoice(entries.get("default")?.value), variables: readChoice(entries.get("variables")?.value) };
}

const ALL = (): boolean => true;
const NONE = (): boolean => false;

function readChoice(node: YamlNode | undefined): (name: string) => boolean {
  if (isList(node)) {
    const names = new Set(node.items.map(stringOf));
    return (name) => names.has(name);
  }
  const isOff = node?.kind === "scalar" && readPsychScalar(node).text === "false";
  return isOff ? NONE : ALL;
}
