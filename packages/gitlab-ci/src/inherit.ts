import type { YamlNode } from "@steps/source";
import { nearest, quote } from "@steps/model";
import { REFERENCE_TAG } from "./ci-file.ts";
import { readPsychScalar } from "./psych.ts";
import { reportReference } from "./read-commands.ts";
import type { CiReport } from "./ci-rules.ts";

/** Tells which keywords and variables a job takes from the top of its file. */
export interface Inherit {
  readonly default: (keyword: string) => boolean;
  readonly variables: (name: string) => boolean;
}

const FIELDS = ["default", "variables"] as const;

/** Reads `inherit`: for `default` and for `variables` true, false, or the list of names that are taken. */
export function readInherit(node: YamlNode | undefined, report: CiReport): Inherit {
  const all = (): boolean => true;
  if (node === undefined) return { default: all, variables: all };
  if (node.tag === REFERENCE_TAG) {
    reportReference(node, "inherit", report);
  } else if (node.kind === "mapping") {
    for (const [field, { key }] of node.entries) {
      if ((FIELDS as readonly string[]).includes(field)) continue;
      const guess = nearest(field, FIELDS);
      report.error(key, {
        code: "unknown-key",
        message: `"inherit" has an unknown key: ${quote(field)}`,
        hint: guess === undefined ? undefined : `Did you mean "${guess}"?`,
      });
    }
    return {
      default: readChoice("default", node.entries.get("default")?.value, report),
      variables: readChoice("variables", node.entries.get("variables")?.value, report),
    };
  } else {
    report.error(node, { code: "invalid-job", message: `"inherit" is not a mapping` });
  }
  return { default: all, variables: all };
}

function readChoice(field: string, node: YamlNode | undefined, report: CiReport): (name: string) => boolean {
  if (node === undefined) return () => true;
  if (node.tag === REFERENCE_TAG) {
    reportReference(node, field, report);
    return () => true;
  }
  if (node.kind === "list") {
    const names = new Set(node.items.map((item) => (item.kind === "scalar" ? item.text : undefined)));
    return (name) => names.has(name);
  }
  const scalar = node.kind === "scalar" ? readPsychScalar(node) : undefined;
  if (scalar?.kind === "boolean") return () => scalar.text === "true";
  report.error(node, { code: "invalid-job", message: `"inherit:${field}" is neither true, false nor a list of names` });
  return () => true;
}
