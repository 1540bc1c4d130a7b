import { describeNode, type YamlEntry, type YamlMapping, type YamlNode } from "@steps/source";
import { unknownKeyHint } from "@steps/source/keys";
import { quote } from "@steps/model/diagnostic";
import type { Reading } from "./reading.ts";

export function isNull(node: YamlNode | undefined): boolean {
  return node?.kind === "scalar" && node.value === null;
}

export function wrongType(reading: Reading, node: YamlNode, expected: string, hint?: string): void {
  reading.report.error(node, {
    code: "wrong-type",
    message: `${expected}, found ${describeNode(node)}`,
    hint,
  });
}

const NO_ENTRIES: readonly (readonly [string, YamlEntry])[] = [];

/**
 * The entries of a mapping. Nothing at all is an empty one, with a warning, since GitHub refuses it. Keys that differ only in
 * case, and keys that are expressions, are reported and left out.
 */
export function entriesOf(
  reading: Reading,
  node: YamlNode | undefined,
  what: string,
): readonly (readonly [string, YamlEntry])[] {
  if (node === undefined) return NO_ENTRIES;
  if (isNull(node)) {
    const hint = "GitHub refuses a key without a value. Write {}, or remove the key.";
    reading.report.warn(node, { code: "wrong-type", message: `${what} is empty`, hint });
    return NO_ENTRIES;
  }
  if (node.kind !== "mapping") {
    if (node.kind === "scalar" && node.text.includes("${{")) {
      const message = `${what} cannot be an expression as a whole here`;
      reading.report.error(node, { code: "not-supported", message, hint: "Write its keys out." });
    } else wrongType(reading, node, `${what} must be a mapping`);
    return NO_ENTRIES;
  }
  return distinctEntries(reading, node, what);
}

function distinctEntries(
  { report }: Reading,
  node: YamlMapping,
  what: string,
): readonly (readonly [string, YamlEntry])[] {
  const seen = new Map<string, string>();
  const entries: (readonly [string, YamlEntry])[] = [];
  for (const pair of node.entries) {
    const [name, { key }] = pair;
    const before = seen.get(name.toLowerCase());
    if (before !== undefined) {
      const message = `${what} has two keys that differ only in case: ${quote(before)} and ${quote(name)}`;
      report.error(key, { code: "duplicate-key", message, hint: "GitHub does not tell them apart." });
    } else if (name.includes("${{")) {
      const message = `${what} has a key that is an expression`;
      report.error(key, { code: "not-supported", message, hint: "Write the key out." });
    } else entries.push(pair);
    seen.set(name.toLowerCase(), name);
  }
  return entries;
}

/** Reports a key that nothing reads. `known` are those that could be meant. */
export function reportUnknownKey(
  reading: Reading,
  { name, key, what }: { readonly name: string; readonly key: YamlNode; readonly what: string },
  { known, severity = "error" }: { readonly known: readonly string[]; readonly severity?: "error" | "warning" },
): void {
  reading.report.add(severity, key, () => ({
    code: "unknown-key",
    message: `Unknown key in ${what}: ${quote(name)}`,
    hint: unknownKeyHint(name, { known }),
  }));
}
