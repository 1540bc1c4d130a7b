import { IfError } from "./if-error.ts";
import { type IfOperator, type IfToken, readTokens } from "./tokens.ts";

interface Place {
  /** UTF-16 units from the start of the condition. */
  readonly offset: number;
  readonly length: number;
}

/** A part of a condition. */
export type IfNode = IfOperand | IfNot | IfComparison;

export interface IfOperand extends Place {
  readonly kind: "variable" | "string" | "pattern" | "null" | "boolean";
  /** The name of a variable, what a string holds; of all others the text as written. */
  readonly text: string;
}

interface IfNot extends Place {
  readonly kind: "not";
  readonly operand: IfNode;
}

export interface IfComparison extends Place {
  readonly kind: "binary";
  readonly operator: Exclude<IfOperator, "!">;
  readonly left: IfNode;
  readonly right: IfNode;
}

/** Something in a condition that GitLab accepts and that hardly means what its author wanted. */
export interface IfDoubt extends Place {
  /** Sentence case, no final period. */
  readonly message: string;
  readonly hint?: string;
}

/** A condition of `rules:if`, `workflow:rules:if` or `only:variables`. */
export interface ParsedIf {
  readonly text: string;
  readonly root: IfNode;
  /** The literal patterns in it. Whether they are valid is known only once the engine of patterns is there. */
  readonly patterns: readonly IfOperand[];
  /** Whether a pattern may have to be compiled: it holds one, or compares with a variable that may. */
  readonly needsPatterns: boolean;
  readonly doubts: readonly IfDoubt[];
}

/**
 * Parses a condition. `!` binds tightest, then `== != =~ !~`, then `&&`, then `||`; those of one level from the left.
 * Unlike GitLab's parser, which sorts tokens, it refuses operators that do not stand between their operands.
 *
 * @throws {IfError} with the place of what is wrong.
 */
export function parseIf(text: string): ParsedIf {
  const tokens = readTokens(text);
  if (tokens.length === 0) throw new IfError("The condition is empty", { offset: 0, length: text.length });
  const state: State = { text, tokens, at: 0, patterns: [], doubts: [], needsPatterns: false };
  const root = parseBinary(state, 0);
  const rest = state.tokens[state.at];
  if (rest !== undefined) throw surplus(rest);
  const { patterns, needsPatterns, doubts } = state;
  return { text, root, patterns, needsPatterns, doubts };
}

interface State {
  readonly text: string;
  readonly tokens: readonly IfToken[];
  at: number;
  readonly patterns: IfOperand[];
  readonly doubts: IfDoubt[];
  needsPatterns: boolean;
}

/** Loosest first. */
const LEVELS: readonly (readonly string[])[] = [["||"], ["&&"], ["==", "!=", "=~", "!~"]];

function parseBinary(state: State, level: number): IfNode {
  const operators = LEVELS[level];
  if (operators === undefined) return parseUnary(state);
  let left = parseBinary(state, level + 1);
  for (let token = state.tokens[state.at]; isOperator(token, operators); token = state.tokens[state.at]) {
    state.at += 1;
    const right = parseBinary(state, level + 1);
    const operator = token.text as IfComparison["operator"];
    const { offset } = left;
    const node = {
      kind: "binary",
      operator,
      left,
      right,
      offset,
      length: right.offset + right.length - offset,
    } as const;
    check(node, state);
    left = node;
  }
  return left;
}

function isOperator(token: IfToken | undefined, operators: readonly string[]): token is IfToken {
  return token?.kind === "operator" && operators.includes(token.text);
}

function parseUnary(state: State): IfNode {
  const token = state.tokens[state.at];
  if (token === undefined) {
    throw new IfError("The condition ends where a value is expected", { offset: state.text.length, length: 0 });
  }
  state.at += 1;
  if (token.kind === "open") return parseParenthesis(token, state);
  if (token.kind === "close") throw new IfError("Nothing stands before the closing parenthesis", token);
  if (token.kind === "operator") return parseNot(token, state);
  const { kind, text, offset, length } = token;
  const operand: IfOperand = { kind, text, offset, length };
  if (kind === "pattern") {
    state.patterns.push(operand);
    state.needsPatterns = true;
  }
  return operand;
}

function parseParenthesis(open: IfToken, state: State): IfNode {
  const inner = parseBinary(state, 0);
  const close = state.tokens[state.at];
  if (close?.kind !== "close") {
    if (close !== undefined) throw surplus(close);
    throw new IfError("A parenthesis is not closed", open, "Write ) where it ends.");
  }
  state.at += 1;
  return { ...inner, offset: open.offset, length: close.offset + 1 - open.offset };
}

function parseNot(token: IfToken, state: State): IfNode {
  if (token.text !== "!") throw new IfError(`Nothing stands before ${token.text}`, token);
  const { offset } = token;
  state.doubts.push({ message: `"!" is understood only by recent versions of GitLab`, offset, length: 1 });
  const operand = parseUnary(state);
  return { kind: "not", operand, offset, length: operand.offset + operand.length - offset };
}

function surplus(token: IfToken): IfError {
  if (token.kind === "close") return new IfError("A parenthesis is closed that was not opened", token);
  return new IfError("An operator is missing here", token, "Join two conditions with && or ||.");
}

function check({ operator, left, right }: IfComparison, state: State): void {
  if (operator === "&&" || operator === "||") return;
  if (left.kind === "pattern") {
    throw new IfError(`A pattern stands on the left of ${operator}`, left, "Write the pattern on the right of =~.");
  }
  const { offset, length } = right;
  if (operator === "==" || operator === "!=") {
    if (right.kind === "pattern") {
      state.doubts.push({ message: `A pattern is never equal to a text`, hint: "Compare with =~.", offset, length });
    }
    for (const { kind, offset, length, text } of [left, right] as IfOperand[]) {
      if (kind !== "boolean") continue;
      const hint = `Values of variables are texts: compare with "${text}".`;
      state.doubts.push({ message: `A text is never equal to ${text}`, hint, offset, length });
    }
    return;
  }
  state.needsPatterns = true;
  if (right.kind === "boolean") throw new IfError(`${right.text} is no pattern`, right, "A pattern is written /…/.");
  if (right.kind === "string") {
    const hint = "A pattern is written /…/, without quotes.";
    state.doubts.push({ message: `A string on the right of ${operator} is no pattern`, hint, offset, length });
  }
}
