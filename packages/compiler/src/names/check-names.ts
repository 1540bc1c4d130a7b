import { findNames, hintNames, hintRoot, type UsedName } from "@steps/expression/names";
import type { Value } from "@steps/model";
import type { Definition, StepInvocation, StepsDefinition } from "@steps/model/definition";
import { nodeIn } from "@steps/source";
import { escapePointer } from "@steps/model/value";
import type { CompileContext } from "../context.ts";
import { holdsExpression } from "../texts/check-template.ts";
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
  if (context.names === undefined || definition.github !== undefined) return;
  const own: ScopeNames = { ...names, steps: NO_STEPS, beside: undefined };
  checkTexts(context, definition.env, `${pointer}/env`, own);
  if (definition.type === "exec") {
    checkTexts(context, definition.command, `${pointer}/exec/command`, own);
    if (definition.workDir !== undefined) checkTexts(context, definition.workDir, `${pointer}/exec/workDir`, own);
    return;
  }
  checkList(context, definition, pointer, own);
}

const NO_STEPS: ReadonlySet<string> = new Set();

function checkList(context: CompileContext, definition: StepsDefinition, pointer: string, own: ScopeNames): void {
  const { steps, finally: last = [], isParallel = false, outputs } = definition;
  // One set grows from step to step: a list of thousands of them is copied for none.
  const known = new Set<string>();
  const sequence: ScopeNames = { ...own, steps: known };
  const all = new Set(isParallel ? steps.map(({ name }) => name) : []);
  for (const [i, invocation] of steps.entries()) {
    const { name } = invocation;
    const alone = isParallel ? { ...own, beside: { name, steps: all } } : sequence;
    checkInvocation(context, invocation, `${pointer}/steps/${i}`, alone);
    known.add(name);
  }
  for (const [i, invocation] of last.entries()) {
    checkInvocation(context, invocation, `${pointer}/finally/${i}`, sequence);
    known.add(invocation.name);
  }
  checkTexts(context, outputs, `${pointer}/outputs`, sequence);
}

function checkInvocation(
  context: CompileContext,
  { step, env, inputs, secrets, control, github }: StepInvocation,
  pointer: string,
  outer: ScopeNames,
): void {
  if (github !== undefined) return;
  const { condition, continueOnError = false } = control ?? {};
  if (condition !== undefined) {
    const asked = { ...outer, isCondition: true, isOptional: outer.isOptional === true || continueOnError };
    checkTexts(context, condition, `${pointer}/control/condition`, asked);
  }
  const names = condition !== undefined || continueOnError ? { ...outer, isOptional: true } : outer;
  if (step.kind === "dynamic") checkTexts(context, step.text, `${pointer}/step`, names);
  checkTexts(context, env, `${pointer}/env`, names);
  checkTexts(context, inputs, `${pointer}/inputs`, names);
  if (secrets !== undefined) checkTexts(context, secrets, `${pointer}/secrets`, names);
  if (step.kind !== "inline") return;
  const { spec, definition } = step.specDefinition;
  const inner = step.seesCallerInputs ? names : { ...namesOfSpec(spec), isOptional: names.isOptional };
  checkNames(context, definition, { names: inner, pointer: `${pointer}/step/specDef/definition` });
}

function checkTexts(context: CompileContext, value: Value | object, pointer: string, names: ScopeNames): void {
  if (typeof value === "string") return checkText(context, value, pointer, names);
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    // Nearly all texts hold no expression.
    if (typeof inner !== "string" || holdsExpression(inner))
      checkTexts(context, inner as Value, `${pointer}/${escapePointer(key)}`, names);
  }
}

function checkText(context: CompileContext, text: string, pointer: string, names: ScopeNames): void {
  if (!holdsExpression(text) || !context.report.hasRoom("error")) return;
  for (const used of context.names?.get(text) ?? findNames(text)) {
    const problem = problemOf(used, names);
    if (problem === undefined) continue;
    const node = nodeIn(context.places, pointer);
    // A condition may have been written without its `${{ }}`; then all of it is shown.
    const isWritten = node?.kind === "scalar" && !node.isMade && scriptText(node) === text;
    context.report.add(severityOf(context, used, names), node, () => {
      const { length = used.length, ...said } = problem();
      return { ...said, part: isWritten ? { offset: used.offset, length } : undefined };
    });
  }
}

function severityOf({ options }: CompileContext, used: UsedName, names: ScopeNames): "error" | "warning" {
  const { unknownNames, isLenient = false } = options;
  const isCertain = used.isAlwaysRead && names.isOptional !== true;
  return !isLenient && (unknownNames === "error" || (unknownNames === "run" && isCertain)) ? "error" : "warning";
}

interface Problem {
  readonly code: "unknown-function" | "unknown-name";
  readonly message: string;
  readonly hint?: string;
  /** The length of what is wrong, from the offset of the used name. Default: that of the used name. */
  readonly length?: number;
}

/** The members of a step that expressions can read. */
const MEMBERS: readonly string[] = ["outputs", "status", "exit_code", "exports"];

function problemOf({ kind, name, of, rest = [] }: UsedName, names: ScopeNames): (() => Problem) | undefined {
  const shown = `"${name.slice(0, 80)}"`;
  if (kind === "function") {
    if (functionsOf(names).includes(name)) return undefined;
    return () => ({
      code: "unknown-function",
      message: `Unknown function ${shown}`,
      hint: hintOfFunction(name, names),
    });
  }
  if (kind === "name") {
    if (CONTEXTS.includes(name)) return undefined;
    return () => ({ code: "unknown-name", message: `Unknown name ${shown}`, hint: hintOfName(name, names) });
  }
  const known = of === "inputs" || of === "secrets" || of === "steps" ? names[of] : undefined;
  const [member] = rest;
  if (of === "steps" && known?.has(name) === true && member !== undefined && !MEMBERS.includes(member.name))
    return () => ({
      code: "unknown-name",
      message: `Unknown key "${member.name.slice(0, 80)}" in step ${shown}`,
      hint: hintNames(member.name, MEMBERS, "keys of a step"),
      length: member.length,
    });
  if (known === undefined || known.has(name)) return undefined;
  return () => ({
    code: "unknown-name",
    message: `Unknown key ${shown} in "${of}"`,
    hint: of === "steps" ? hintOfStep(name, names) : hintNames(name, [...known], `${of} of the step`),
  });
}

function hintOfStep(name: string, { steps, beside }: ScopeNames): string {
  const hint = hintNames(
    name,
    [...steps].filter((one) => one !== ""),
    "steps before it",
  );
  const isBeside = beside?.steps.has(name) === true && name !== beside.name;
  return isBeside ? `${hint}: step "${beside.name}" runs at the same time as "${name}"` : hint;
}

function hintOfFunction(name: string, names: ScopeNames): string {
  const isOfCondition = functionsOf({ ...names, isCondition: true }).includes(name);
  return isOfCondition ? `${name}() is for if: alone.` : hintNames(name, functionsOf(names), "functions");
}

function hintOfName(name: string, names: ScopeNames): string {
  return functionsOf(names).includes(name) ? `"${name}" is a function: write ${name}(…).` : hintRoot(name, CONTEXTS);
}
