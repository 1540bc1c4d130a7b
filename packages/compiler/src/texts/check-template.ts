import { checkTemplate, findMismatches, type KindMismatch } from "@steps/expression";
import { findNames, findRoots } from "@steps/expression/names";
import type { YamlNode } from "@steps/source";
import { type CompileContext } from "../context.ts";
import { scriptText } from "./script-text.ts";

/** Whether a text has an expression, or what looks like one. */
export function holdsExpression(text: string): boolean {
  return text.includes("${{");
}

/** Reports every malformed expression in the texts of a value, and in its keys. */
export function checkTemplates(context: CompileContext, node: YamlNode): void {
  if (node.kind === "scalar") return checkTemplateNode(context, node);
  if (context.checked.has(node)) return;
  context.checked.add(node);
  if (node.kind === "list") for (const item of node.items) checkTemplates(context, item);
  else {
    for (const { key, value } of node.entries.values()) {
      checkTemplateNode(context, key);
      checkTemplates(context, value);
    }
  }
}

/** Reports every malformed expression of one text: a scalar, or a script that is a list of lines. */
export function checkTemplateNode(context: CompileContext, node: YamlNode): void {
  const text = scriptText(node);
  if (!holdsExpression(text) || context.checked.has(node) || !context.report.hasRoom("error")) return;
  context.checked.add(node);
  for (const { message, hint, offset, length } of checkTemplate(text)) {
    context.report.error(node, { code: "invalid-expression", message, hint, part: { offset, length } });
  }
  // The last text is not read again.
  context.names?.set(text, findNames(text));
  warnOfMismatches(context, node, text);
}

/** Warns of comparisons whose result never changes. `shift` is how much of the text is not in the node. */
export function warnOfMismatches(context: CompileContext, node: YamlNode, text: string, shift = 0): void {
  if (!/[=<>]/.test(text) || !context.report.hasRoom("warning")) return;
  for (const { operator, left, right, offset, length } of findMismatches(text)) {
    context.report.warn(node, () => ({
      code: "kind-mismatch",
      message: `"${operator}" compares ${article(left)} with ${article(right)}: the result is always the same`,
      hint: left === "null" || right === "null" ? undefined : "Compare values of one kind; num() and str() convert.",
      part: { offset: Math.max(0, offset - shift), length },
    }));
  }
}

function article(kind: KindMismatch["left"]): string {
  if (kind === "null") return kind;
  return /^[ao]/.test(kind) ? `an ${kind}` : `a ${kind}`;
}

/** Names whose values are paths that the runner chooses, so that no outsider can put code into them. */
const OWN_NAMES: ReadonlySet<string> = new Set(["output_file", "export_file", "func_dir", "step_dir", "work_dir"]);

/** Notes each value that is pasted into a script, where a shell reads it as code. */
export function noteScriptInjection(context: CompileContext, node: YamlNode): void {
  const text = scriptText(node);
  if (!holdsExpression(text) || !context.report.hasRoom("note") || checkTemplate(text).length > 0) return;
  const foreign = findRoots(text).filter((name) => !OWN_NAMES.has(name));
  if (foreign.length === 0) return;
  const offset = text.indexOf("${{");
  context.report.note(node, () => ({
    code: "script-injection",
    message: `A value is pasted into the script: ${foreign.join(", ")}`,
    hint: 'Pass it through env: and write "$NAME" in the script, so that the shell cannot read it as code.',
    part: { offset, length: Math.max(3, text.indexOf("}}", offset) + 2 - offset) },
  }));
}
