import type { YamlNode, YamlScalar } from "@steps/source";
import { toText } from "@steps/github-language";
import { isNull, wrongType } from "./mapping.ts";
import type { Reading } from "./reading.ts";

/** The text that GitHub makes of a scalar: nothing is empty, `True` is `true`, `1.10` is `1.1`. */
export function scalarText({ value }: YamlScalar): string {
  return toText(value);
}

/** The text of a scalar; a list or a mapping, and a text that no process can be given, are reported. */
export function textOf(reading: Reading, node: YamlNode, what: string): string | undefined {
  if (node.kind !== "scalar") {
    wrongType(reading, node, `${what} must be a text`);
    return undefined;
  }
  const text = scalarText(node);
  if (typeof node.value === "number" && text !== node.text && text !== node.text.replace(/^\+/, "")) {
    warnOfNumber(reading, node, text);
  }
  const nul = text.indexOf("\0");
  if (nul === -1) return text;
  reading.report.error(node, { code: "invalid-character", message: `${what} holds a NUL, which no process takes` });
  return undefined;
}

// In somebody else's manifest nobody can do anything about it.
function warnOfNumber(reading: Reading, node: YamlScalar, text: string): void {
  if (reading.file === "action" && !reading.advisesAuthor) return;
  reading.report.add(reading.file === "action" ? "note" : "warning", node, {
    code: "changed-number",
    message: `The number ${node.text.slice(0, 40)} becomes the text "${text}"`,
    hint: `Quote it: "${node.text.slice(0, 40)}".`,
  });
}

/** The same for a text that must say something and that GitHub reads before anything can be evaluated. */
export function literalOf(reading: Reading, node: YamlNode, what: string): string | undefined {
  if (isNull(node)) {
    reading.report.error(node, { code: "missing-key", message: `${what} is empty` });
    return undefined;
  }
  const text = textOf(reading, node, what);
  if (text === undefined) return undefined;
  if (text === "") reading.report.error(node, { code: "missing-key", message: `${what} is empty` });
  const at = text.indexOf("${{");
  if (at !== -1) {
    reading.report.error(node, {
      code: "expression-not-allowed",
      message: `${what} cannot hold an expression`,
      hint: "GitHub reads it before anything can be evaluated. Write the text itself.",
      part: { offset: at, length: 3 },
    });
  }
  return text === "" || at !== -1 ? undefined : text;
}

/** A text for people. GitHub refuses an expression in it, though nobody would evaluate it. */
export function proseOf(reading: Reading, node: YamlNode, what: string): string | undefined {
  const text = textOf(reading, node, what);
  const at = text?.indexOf("${{") ?? -1;
  if (at !== -1) {
    reading.report.warn(node, {
      code: "expression-in-text",
      message: `${what} holds an expression, for which GitHub refuses the file`,
      part: { offset: at, length: 3 },
    });
  }
  return text;
}
