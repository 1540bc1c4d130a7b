import { findNames, hintNames, hintRoot, type UsedName } from "@steps/expression/names";
import type { Value } from "@steps/model";
import type { Definition, StepInvocation, StepsDefinition } from "@steps/model/definition";
import { escapePointer, nodeIn } from "@steps/source";
import type { CompileContext } from "../context.ts";
import { scriptText } from "../texts/script-text.ts";
import { CONTEXTS, functionsOf, namesOfSpec, type ScopeNames } from "./scope-names.ts";

/**
 * Reports each name in the expressions of a definition that is certain to be unknown when it runs: contexts, functions, declared
 * inputs and secrets, and steps that do not stand before it. Variables and the environment are known only then, and left alone.
 */
export function checkNames(
  context: CompileContext,
  definition: Definition,
  { names, pointer }: { readonly names: ScopeNames; readonly pointer: string },
): void {
  // A definition of GitHub's is in another language.
  if (context.options.checksNames !== true || definition.github !== undefined) return;
  const own: ScopeNames = { ...names, steps: new Set() };
  checkTexts(context, definition.env, `${pointer}/env`, own);
  if (definition.type === "exec") {
    checkTexts(context, definition.command, `${pointer}/exec/command`, own);
    if (definition.workDir !== undefined) checkTexts(context, definition.workDir, `${pointer}/exec/workDir`, own);
    return;
  }
  checkList(context, definition, pointer, own);
}

function checkList(context: CompileContext, definition: StepsDefinition, pointer: string, own: ScopeNames): void {
  const { steps, finally: last = [], isParallel = false, outputs } = definition;
  const known = new Set<string>();
  for (const [i, invocation] of steps.entries()) {
    checkInvocation(context, invocation, `${pointer}/steps/${i}`, { ...own, steps: new Set(isParallel ? [] : known) });
    known.add(invocation.name);
  }
  for (const [i, invocation] of last.entries()) {
    checkInvocation(context, invocation, `${pointer}/finally/${i}`, { ...own, steps: new Set(known) });
    known.add(invocation.name);
  }
  checkTexts(context, outputs, `${pointer}/outputs`, { ...own, steps: known });
}

function checkInvocation(
  context: CompileContext,
  { step, env, inputs, secrets, control, github }: StepInvocation,
  pointer: string,
  names: ScopeNames,
): void {
  if (github !== undefined) return;
  if (step.kind === "dynamic") checkTexts(context, step.text, `${pointer}/step`, names);
  checkTexts(context, env, `${pointer}/env`, names);
  checkTexts(context, inputs, `${pointer}/inputs`, names);
  checkTexts(context, secrets ?? {}, `${pointer}/secrets`, names);
  const { condition } = control ?? {};
  if (condition !== undefined)
    checkTexts(context, condition, `${pointer}/control/condition`, { ...names, isCondition: true });
  if (step.kind !== "inline") return;
  const { spec, definition } = step.specDefinition;
  const inner = step.seesCallerInputs ? names : namesOfSpec(spec);
  checkNames(context, definition, { names: inner, pointer: `${pointer}/step/specDef/definition` });
}

function checkTexts(context: CompileContext, value: Value | object, pointer: string, names: ScopeNames): void {
  if (typeof value === "string") return checkText(context, value, pointer, names);
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value))
    checkTexts(context, inner as Value, `${pointer}/${escapePointer(key)}`, names);
}

function checkText(context: CompileContext, text: string, pointer: string, names: ScopeNames): void {
  if (!text.includes("${{") || !context.report.hasRoom("error")) return;
  for (const used of findNames(text)) {
    const problem = problemOf(used, names);
    if (problem === undefined) continue;
    const node = nodeIn(context.places, pointer);
    // A condition may have been written without its `${{ }}`; then all of it is shown.
    const isWritten = node?.kind === "scalar" && !node.isMade && scriptText(node) === text;
    const part = isWritten ? { offset: used.offset, length: used.length } : undefined;
    const severity = context.options.isLenient === true ? "warning" : "error";
    context.report.add(severity, node, { ...problem, part });
  }
}

type Problem = { readonly code: "unknown-function" | "unknown-name"; readonly message: string; readonly hint?: string };

function problemOf({ kind, name, of }: UsedName, names: ScopeNames): Problem | undefined {
  if (kind === "function") {
    const known = functionsOf(names);
    if (known.includes(name)) return undefined;
    const isOfCondition = functionsOf({ ...names, isCondition: true }).includes(name);
    const hint = isOfCondition ? `${name}() is for if: alone.` : hintNames(name, known, "functions");
    return { code: "unknown-function", message: `Unknown function "${name.slice(0, 80)}"`, hint };
  }
  if (kind === "name") {
    if (CONTEXTS.includes(name)) return undefined;
    const hint = functionsOf(names).includes(name)
      ? `"${name}" is a function: write ${name}(…).`
      : hintRoot(name, CONTEXTS);
    return { code: "unknown-name", message: `Unknown name "${name.slice(0, 80)}"`, hint };
  }
  const known = of === "inputs" || of === "secrets" || of === "steps" ? names[of] : undefined;
  if (known === undefined || known.has(name)) return undefined;
  const written = [...known].filter((one) => one !== "");
  const what = { inputs: "inputs of the step", secrets: "secrets of the step", steps: "steps before it" }[
    of as "inputs"
  ];
  return {
    code: "unknown-name",
    message: `Unknown key "${name.slice(0, 80)}" in "${of}"`,
    hint: hintNames(name, written, what),
  };
}
