import type { IfComparison, IfNode, IfOperand, ParsedIf } from "./parse-if.ts";
import { type CompiledPattern, type CompilePattern, PatternError, readPattern } from "./patterns.ts";

/** The value of a part of a condition; `null` of a variable that is not set. */
export type IfValue = string | boolean | null;

/** A part of a condition and the value it had. */
export interface IfExplanation {
  /** The part as it was written. */
  readonly text: string;
  /** `undefined` for a part that was not looked at, since the one before it had decided. */
  readonly value: IfValue | undefined;
  /** The variable that the part is; absent for all other parts. */
  readonly variable?: string;
  /** A remark on how the value came about, as a sentence without a period. Mostly absent. */
  readonly note?: string;
  /** The operands, from the left. */
  readonly parts: readonly IfExplanation[];
}

/** The result of a condition, with its explanation. */
export interface IfResult {
  /** Whether the condition holds: its value is neither `null`, nor `false`, nor blank. */
  readonly holds: boolean;
  readonly explanation: IfExplanation;
}

/** The variables and patterns with which a condition is evaluated. */
export interface IfContext {
  /** The value of a variable, not expanded; `undefined` when it is not set. */
  readonly valueOf: (name: string) => string | undefined;
  /** Needed when `needsPatterns` of the condition is true. */
  readonly compile?: CompilePattern | undefined;
}

/**
 * Evaluates a condition as GitLab does. `&&` and `||` are those of Ruby: an empty string counts as something, and the value of
 * the operand that decides is the value of both; only the whole is asked whether it is blank. So `$EMPTY || $OTHER` does not
 * hold when `EMPTY` is set to nothing.
 *
 * @throws {PatternError} when a pattern cannot be compiled or takes too much work.
 */
export function evaluateIf(condition: ParsedIf, context: IfContext): IfResult {
  const explanation = evaluate(condition.root, { ...context, source: condition.text });
  return { holds: isPresent(explanation.value ?? null), explanation };
}

interface Run extends IfContext {
  readonly source: string;
}

function isPresent(value: IfValue): boolean {
  return typeof value === "string" ? value.trim() !== "" : value === true;
}

function evaluate(node: IfNode, run: Run): IfExplanation {
  const text = textOf(node, run);
  if (node.kind === "binary") return { text, ...evaluateBinary(node, run) };
  if (node.kind === "not") {
    const part = evaluate(node.operand, run);
    return { text, value: !isPresent(part.value ?? null), parts: [part] };
  }
  return evaluateOperand(node, run);
}

function textOf({ offset, length }: IfNode, { source }: Run): string {
  return source.slice(offset, offset + length);
}

function evaluateOperand(node: IfOperand, run: Run): IfExplanation {
  const text = textOf(node, run);
  if (node.kind === "variable") {
    return { text, value: run.valueOf(node.text) ?? null, variable: node.text, parts: [] };
  }
  if (node.kind === "null") return { text, value: null, parts: [] };
  return { text, value: node.kind === "boolean" ? node.text === "true" : node.text, parts: [] };
}

type Outcome = Omit<IfExplanation, "text">;

function evaluateBinary({ operator, left, right }: IfComparison, run: Run): Outcome {
  const first = evaluate(left, run);
  if (operator === "&&" || operator === "||") {
    const isNothing = first.value === null || first.value === false;
    if (isNothing === (operator === "&&")) {
      return { value: first.value, parts: [first, { text: textOf(right, run), value: undefined, parts: [] }] };
    }
    const second = evaluate(right, run);
    return { value: second.value, parts: [first, second] };
  }
  const second = evaluate(right, run);
  const parts = [first, second];
  if (operator === "==" || operator === "!=") {
    const isEqual = right.kind !== "pattern" && first.value === second.value;
    return { value: isEqual === (operator === "=="), parts };
  }
  const { isFound, note } = find(String(first.value ?? ""), second.value ?? null, run);
  return { value: isFound === (operator === "=~"), note, parts };
}

function find(text: string, pattern: IfValue, { compile }: Run): { readonly isFound: boolean; readonly note?: string } {
  if (pattern === null || pattern === false) return { isFound: false, note: "there is no pattern to look for" };
  if (pattern === true) throw new PatternError("what stands on the right is true, not a pattern");
  const compiled = compilePattern(pattern, compile);
  if (compiled !== undefined) return { isFound: compiled.test(text) };
  // GitLab looks for the left text in the right one, which was an accident and has stayed.
  return {
    isFound: pattern.includes(text),
    note: "the right side is no pattern, so the left text is looked for in it",
  };
}

function compilePattern(text: string, compile: CompilePattern | undefined): CompiledPattern | undefined {
  const parts = readPattern(text);
  if (parts === undefined) return undefined;
  if (compile === undefined) throw new Error("The engine of patterns is not loaded");
  try {
    return compile(parts.body, parts.flags);
  } catch (error) {
    // Those that are literal were checked before; a variable may hold anything.
    if (error instanceof PatternError && !error.isTooMuch) return undefined;
    throw error;
  }
}
