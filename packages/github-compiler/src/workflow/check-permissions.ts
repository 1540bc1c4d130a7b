import type { YamlNode } from "@steps/source";
import { nearest, quote } from "@steps/model/diagnostic";
import { isNull } from "../reading/mapping.ts";
import type { Reading } from "../reading/reading.ts";
import { scalarText } from "../reading/texts.ts";

// https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#permissions
const SCOPES: readonly string[] = (
  "actions artifact-metadata attestations checks contents deployments discussions id-token issues models packages pages " +
  "pull-requests repository-projects security-events statuses"
).split(" ");
const LEVELS = ["read", "write", "none"];
const ALL = ["read-all", "write-all"];

/** Says which permissions GitHub does not have. */
export function checkPermissions(reading: Reading, node: YamlNode | undefined): void {
  if (node === undefined || isNull(node)) return;
  const { report } = reading;
  if (node.kind !== "mapping") {
    const text = node.kind === "scalar" ? scalarText(node) : "";
    if (ALL.includes(text) || text.includes("${{")) return;
    const message = `"permissions" takes read-all, write-all or a mapping${text === "" ? "" : `, not ${quote(text)}`}`;
    report.error(node, { code: "invalid-value", message, hint: hintOf(text, ALL) });
    return;
  }
  for (const [name, { key, value }] of node.entries) {
    // GitHub makes new ones, so it is no error.
    if (!SCOPES.includes(name)) {
      const message = `No permission of GitHub is called ${quote(name)}`;
      report.add("warning", key, () => ({ code: "unknown-permission", message, hint: hintOf(name, SCOPES) }));
    }
    const level = value.kind === "scalar" ? scalarText(value) : "";
    if (LEVELS.includes(level) || level.includes("${{")) continue;
    const message = `The permission ${quote(name)} takes read, write or none, not ${quote(level)}`;
    report.error(value, { code: "invalid-value", message, hint: hintOf(level, LEVELS) });
  }
}

function hintOf(text: string, known: readonly string[]): string {
  const near = nearest(text, known);
  return near === undefined ? `There are ${known.join(", ")}.` : `Did you mean "${near}"?`;
}
