import { NAME_PATTERN, STEP_NAME_PATTERN } from "@steps/model/definition";
import type { YamlScalar } from "@steps/source";
import { type CompileContext } from "../context.ts";
import { checkTemplateNode, holdsExpression } from "./check-template.ts";

/** Checks the name of an input, an output or a variable. `isTemplate`: it may be an expression too. */
export function checkName(
  context: CompileContext,
  key: YamlScalar,
  options: { what: string; isTemplate?: boolean },
): void {
  if (NAME_PATTERN.test(key.text)) return;
  if (options.isTemplate === true && holdsExpression(key.text)) return checkTemplateNode(context, key);
  context.report.error(key, () => ({
    code: "invalid-name",
    message: `The name of ${options.what} is malformed: "${key.text.slice(0, 80)}"`,
    hint: "Use letters, digits and _, and no digit first.",
  }));
}

/** Checks the name of a step; hyphens of older documents are noted. */
export function checkStepName(context: CompileContext, node: YamlScalar): void {
  const name = node.text;
  if (refuseExpression(context, node, "the name of a step")) return;
  if (!STEP_NAME_PATTERN.test(name)) {
    context.report.error(node, () => ({
      code: "invalid-name",
      message: `The name of a step is malformed: "${name.slice(0, 80)}"`,
      hint: "Use letters, digits and _, and no digit first.",
    }));
  } else if (!NAME_PATTERN.test(name)) {
    context.report.note(node, () => ({
      code: "hyphen-in-name",
      message: `The name of a step holds a hyphen: "${name.slice(0, 80)}"`,
      hint: `Refer to it as steps["${name.slice(0, 80)}"].`,
    }));
  }
}

/** Reports an expression where the language takes literal text only. */
export function refuseExpression(context: CompileContext, node: YamlScalar, what: string): boolean {
  const offset = node.text.indexOf("${{");
  if (offset === -1) return false;
  context.report.error(node, {
    code: "expression-not-allowed",
    message: `An expression is not allowed in ${what}`,
    part: { offset, length: Math.max(3, node.text.indexOf("}}", offset) + 2 - offset) },
  });
  return true;
}
