import type { YamlMapping, YamlNode } from "@steps/source";
import { quote } from "@steps/model/diagnostic";
import { readVariables } from "../variables/read-variables.ts";
import {
  checkKeys,
  flatten,
  isMapping,
  isReference,
  readBoolean,
  readCondition,
  readString,
  readStrings,
  stringOf,
  valueOf,
} from "./read-values.ts";
import type { PathsCondition, Rule, When } from "./rule.ts";
import type { RuleReport } from "./rule-codes.ts";

/** The owner of a list of rules. The keys of a rule depend on it. */
export type RuleOwner = "job" | "workflow" | "include";

interface OwnerTable {
  readonly keys: readonly string[];
  readonly whens: readonly string[];
}

const CONDITIONS = ["if", "changes", "exists", "when"];

const OWNERS: Readonly<Record<RuleOwner, OwnerTable>> = {
  job: {
    keys: [...CONDITIONS, "start_in", "allow_failure", "variables", "needs", "interruptible"],
    whens: ["on_success", "on_failure", "always", "manual", "delayed", "never"],
  },
  workflow: { keys: [...CONDITIONS, "variables", "auto_cancel"], whens: ["always", "never"] },
  include: { keys: CONDITIONS, whens: ["always", "never"] },
};

/** GitLab's own limit for the patterns of a `changes` or `exists`. */
const MAX_PATHS = 50;

/** GitLab's own limit for a `regexp`, before and after variables are filled in. */
export const MAX_REGEXP_LENGTH = 255;

/**
 * Reads `rules` of a job, a workflow or an include. Lists in lists are flattened. What is wrong is reported; a rule that cannot be
 * read is left out, so whoever reads must not decide once there are errors.
 */
export function readRules(node: YamlNode, owner: RuleOwner, report: RuleReport): readonly Rule[] {
  if (node.kind !== "list" || isReference(node)) {
    report.error(node, { code: "invalid-rules", message: `"rules" is not a list` });
    return [];
  }
  const rules = flatten("rules", node, report).map((item) => readRule(item, owner, report));
  return rules.filter((rule) => rule !== undefined);
}

function readRule(node: YamlNode, owner: RuleOwner, report: RuleReport): Rule | undefined {
  if (!isMapping(node) || node.entries.size === 0) {
    report.error(node, { code: "invalid-rules", message: "A rule is not a mapping of conditions and what follows" });
    return undefined;
  }
  const { keys, whens } = OWNERS[owner];
  checkKeys("The rule", { node, known: keys }, report);
  const { entries } = node;
  const condition = valueOf(entries, "if");
  const changes = valueOf(entries, "changes");
  const exists = valueOf(entries, "exists");
  const variables = valueOf(entries, "variables");
  const when = readWhen(valueOf(entries, "when"), whens, report);
  return {
    node,
    condition: condition && readCondition(condition, report),
    changes: changes && readPaths("changes", changes, report),
    exists: exists && readPaths("exists", exists, report),
    when,
    startIn: readStartIn(node, when, report),
    allowFailure: readBoolean("allow_failure", valueOf(entries, "allow_failure"), report),
    interruptible: readBoolean("interruptible", valueOf(entries, "interruptible"), report),
    variables: variables && readVariables(variables, "job", report),
    needs: valueOf(entries, "needs"),
    autoCancel: valueOf(entries, "auto_cancel"),
  };
}

/** Reads `when`, which is one of a few words. */
export function readWhen(node: YamlNode | undefined, known: readonly string[], report: RuleReport): When | undefined {
  if (node === undefined) return undefined;
  const text = stringOf(node);
  if (text !== undefined && known.includes(text)) return text as When;
  const found = text === undefined ? "" : `: ${quote(text)}`;
  report.error(node, { code: "invalid-rules", message: `"when" is none of ${known.join(", ")}${found}` });
  return undefined;
}

/** Reads `start_in`, which stands beside `when: delayed` and nowhere else. */
export function readStartIn(node: YamlMapping, when: When | undefined, report: RuleReport): string | undefined {
  const value = valueOf(node.entries, "start_in");
  if (when !== "delayed") {
    if (value !== undefined) {
      report.error(value, { code: "invalid-rules", message: `"start_in" stands without "when: delayed"` });
    }
    return undefined;
  }
  if (value === undefined) {
    report.error(node, { code: "invalid-rules", message: `"when: delayed" stands without "start_in"` });
    return undefined;
  }
  return readString("start_in", value, report)?.text;
}

const PATHS_KEYS = {
  changes: ["paths", "regexp", "compare_to"],
  exists: ["paths", "regexp", "project", "ref"],
} as const;

function readPaths(keyword: keyof typeof PATHS_KEYS, node: YamlNode, report: RuleReport): PathsCondition {
  if (!isMapping(node)) return { node, paths: limit(keyword, readStrings(keyword, node, report), report) };
  const known: readonly string[] = PATHS_KEYS[keyword];
  checkKeys(`"${keyword}"`, { node, known }, report);
  const text = (key: string): ReturnType<typeof readString> => {
    return readString(`${keyword}:${key}`, known.includes(key) ? valueOf(node.entries, key) : undefined, report);
  };
  const list = valueOf(node.entries, "paths");
  const paths = list === undefined ? [] : limit(keyword, readStrings(`${keyword}:paths`, list, report), report);
  const [regexp, compareTo, project, ref] = ["regexp", "compare_to", "project", "ref"].map(text);
  if ((list === undefined) === (valueOf(node.entries, "regexp") === undefined)) {
    report.error(node, { code: "invalid-rules", message: `"${keyword}" takes one of "paths" and "regexp"` });
  }
  if (ref !== undefined && project === undefined) {
    report.error(ref.node, { code: "invalid-rules", message: `"ref" stands without "project"` });
  }
  return { node, paths, regexp: regexp && checkRegexp(regexp, report), compareTo, project, ref };
}

type Texts = ReturnType<typeof readStrings>;

function limit(keyword: string, paths: Texts, report: RuleReport): Texts {
  const surplus = paths[MAX_PATHS];
  if (surplus === undefined) return paths;
  report.error(surplus.node, { code: "invalid-rules", message: `"${keyword}" has more than ${MAX_PATHS} patterns` });
  return paths.slice(0, MAX_PATHS);
}

function checkRegexp(regexp: Texts[number], report: RuleReport): Texts[number] {
  if (regexp.text.length > MAX_REGEXP_LENGTH) {
    report.error(regexp.node, {
      code: "invalid-rules",
      message: `"regexp" is longer than ${MAX_REGEXP_LENGTH} characters`,
    });
  }
  return regexp;
}
