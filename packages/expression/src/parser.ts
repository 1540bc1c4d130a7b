import type { Access, BinaryOperator, Node, UnaryOperator } from "./ast.ts";
import type { ExpressionError } from "./error.ts";
import { advance, createLexer, type Lexer, readStringPart, syntaxError } from "./lexer.ts";
import { limits } from "./limits.ts";

/** Words that Moa keeps for itself; they are allowed after a dot and as keys of an object. */
export const RESERVED_WORDS: ReadonlySet<string> = new Set(
  (
    "array as break case const continue default else fallthrough float for func function goto if import in int let " +
    "loop map namespace number object package range return string struct switch type var void while null true false"
  ).split(" "),
);

interface Parser {
  readonly lexer: Lexer;
  readonly counter: { nodes: number };
  readonly roots: Set<string>;
  readonly calls: Set<string>;
  nesting: number;
}

export interface ParsedExpression {
  readonly node: Node;
  /** The offset behind the closing `}}`. */
  readonly end: number;
  readonly roots: readonly string[];
  readonly calls: readonly string[];
}

/** Reads the expression behind a `${{` up to and with its `}}`. @throws {ExpressionError} */
export function parseExpression(source: string, offset: number, counter: { nodes: number }): ParsedExpression {
  const lexer = createLexer(source, offset);
  const parser: Parser = { lexer, counter, roots: new Set(), calls: new Set(), nesting: 0 };
  const node = parseDelimited(parser);
  return { node, end: parser.lexer.end, roots: [...parser.roots], calls: [...parser.calls] };
}

function parseDelimited(parser: Parser): Node {
  const { lexer } = parser;
  const opening = lexer.end - 3;
  advance(lexer);
  if (isClosing(lexer)) {
    throw syntaxError("EMPTY_EXPRESSION", "The expression is empty", {
      source: lexer.source,
      start: opening,
      end: lexer.end + 1,
    });
  }
  const node = parseBinary(parser, 0);
  if (!isClosing(lexer)) throw unexpected(lexer, "an operator or }}");
  lexer.end++;
  return node;
}

function isClosing(lexer: Lexer): boolean {
  return isSymbol(lexer, "}") && lexer.source[lexer.end] === "}";
}

function isSymbol(lexer: Lexer, symbol: string): boolean {
  return lexer.kind === "symbol" && lexer.text === symbol;
}

function unexpected(lexer: Lexer, wanted: string): ExpressionError {
  const { source, start, end } = lexer;
  const found = lexer.kind === "end" ? "the end of the text" : `"${source.slice(start, Math.min(end, start + 40))}"`;
  return syntaxError("UNEXPECTED_TOKEN", `Expected ${wanted}, found ${found}`, { source, start, end });
}

function expect(lexer: Lexer, symbol: string): void {
  if (!isSymbol(lexer, symbol)) throw unexpected(lexer, `"${symbol}"`);
}

function count<T extends Node>(parser: Parser, node: T): T {
  if (++parser.counter.nodes > limits.maxNodes) {
    const message = `The expressions of one text may have ${limits.maxNodes} parts at most`;
    throw syntaxError("TOO_MANY_NODES", message, { source: parser.lexer.source, start: node.start, end: node.end });
  }
  return node;
}

function nest<T>(parser: Parser, parse: () => T): T {
  if (++parser.nesting > limits.maxNesting) {
    const message = `Expressions may be nested ${limits.maxNesting} levels deep at most`;
    throw syntaxError("NESTING_TOO_DEEP", message, parser.lexer);
  }
  const result = parse();
  parser.nesting--;
  return result;
}

const LEVELS: readonly (readonly string[])[] = [
  ["||"],
  ["&&"],
  ["==", "!=", "<=", ">=", "<", ">"],
  ["+", "-"],
  ["*", "/", "%"],
];

function parseBinary(parser: Parser, level: number): Node {
  const operators = LEVELS[level];
  if (!operators) return parseUnary(parser);
  const { lexer } = parser;
  const first = parseBinary(parser, level + 1);
  const rest: { operator: string; operand: Node }[] = [];
  while (lexer.kind === "symbol" && operators.includes(lexer.text)) {
    const operator = lexer.text;
    advance(lexer);
    rest.push({ operator, operand: parseBinary(parser, level + 1) });
    // The chain is one node, but each link costs as much as one.
    parser.counter.nodes++;
  }
  const last = rest.at(-1)?.operand;
  if (!last) return first;
  const { start } = first;
  const { end } = last;
  if (level < 2) {
    const operands = [first, ...rest.map((link) => link.operand)];
    return count(parser, { kind: "logic", operator: operators[0] as "&&" | "||", operands, start, end });
  }
  const links = rest as { operator: BinaryOperator; operand: Node }[];
  return count(parser, { kind: "binary", first, rest: links, start, end });
}

function parseUnary(parser: Parser): Node {
  const { lexer } = parser;
  const { start } = lexer;
  const operators: UnaryOperator[] = [];
  while (lexer.kind === "symbol" && (lexer.text === "+" || lexer.text === "-" || lexer.text === "!")) {
    operators.push(lexer.text);
    parser.counter.nodes++;
    advance(lexer);
  }
  const operand = parsePostfix(parser);
  if (operators.length === 0) return operand;
  return count(parser, { kind: "unary", operators, operand, start, end: operand.end });
}

function parsePostfix(parser: Parser): Node {
  const { lexer } = parser;
  const base = parsePrimary(parser);
  const path: Access[] = [];
  for (;;) {
    const { start } = lexer;
    if (isSymbol(lexer, ".")) path.push(parseField(parser, start));
    else if (isSymbol(lexer, "[")) path.push(parseIndex(parser, start));
    else break;
    parser.counter.nodes++;
  }
  if (isSymbol(lexer, "(")) {
    const { source, start, end } = lexer;
    throw syntaxError("NOT_CALLABLE", "Only functions can be called, by their name", { source, start, end });
  }
  const last = path.at(-1);
  return last ? count(parser, { kind: "access", base, path, start: base.start, end: last.end }) : base;
}

function parseField(parser: Parser, start: number): Access {
  const { lexer } = parser;
  advance(lexer);
  if (lexer.kind !== "name") throw unexpected(lexer, "a name after the dot");
  const field: Access = { kind: "field", name: lexer.text, start, end: lexer.end };
  advance(lexer);
  return field;
}

function parseIndex(parser: Parser, start: number): Access {
  const { lexer } = parser;
  advance(lexer);
  const index = nest(parser, () => parseBinary(parser, 0));
  expect(lexer, "]");
  const access: Access = { kind: "index", index, start, end: lexer.end };
  advance(lexer);
  return access;
}

function parsePrimary(parser: Parser): Node {
  const { lexer } = parser;
  const { start, end, kind } = lexer;
  switch (kind) {
    case "number":
    case "single-quoted": {
      const value = kind === "number" ? lexer.number : lexer.text;
      advance(lexer);
      return count(parser, { kind: "literal", value, start, end });
    }
    case "double-quote":
      return parseDoubleQuoted(parser);
    case "name":
      return parseName(parser);
    case "symbol":
      if (lexer.text === "(") return parseGroup(parser);
      if (lexer.text === "[") return parseArray(parser, start);
      if (lexer.text === "{") return parseObject(parser, start);
      throw unexpected(lexer, "a value");
    case "end":
      throw unexpected(lexer, "a value");
  }
}

const CONSTANTS: ReadonlyMap<string, null | boolean> = new Map<string, null | boolean>([
  ["null", null],
  ["true", true],
  ["false", false],
]);

function parseName(parser: Parser): Node {
  const { lexer } = parser;
  const { source, start, end, text: name } = lexer;
  const constant = CONSTANTS.get(name);
  if (constant === undefined && RESERVED_WORDS.has(name)) {
    const hint = name === "var" ? 'Did you mean "vars"?' : undefined;
    throw syntaxError("RESERVED_WORD", `The word "${name}" is reserved`, { source, start, end, hint });
  }
  advance(lexer);
  if (constant !== undefined) return count(parser, { kind: "literal", value: constant, start, end });
  if (!isSymbol(lexer, "(")) {
    parser.roots.add(name);
    return count(parser, { kind: "name", name, start, end });
  }
  parser.calls.add(name);
  const args = parseList(parser, ")");
  return count(parser, { kind: "call", name, args: args.items, start, end: args.end });
}

function parseGroup(parser: Parser): Node {
  const { lexer } = parser;
  const { start } = lexer;
  advance(lexer);
  const node = nest(parser, () => parseBinary(parser, 0));
  expect(lexer, ")");
  const { end } = lexer;
  advance(lexer);
  return { ...node, start, end };
}

function parseArray(parser: Parser, start: number): Node {
  const { items, end } = parseList(parser, "]");
  return count(parser, { kind: "array", items, start, end });
}

function parseList(parser: Parser, closing: string): { items: Node[]; end: number } {
  return parseItems(parser, closing, () => parseBinary(parser, 0));
}

function parseItems<T>(parser: Parser, closing: string, parseItem: () => T): { items: T[]; end: number } {
  const { lexer } = parser;
  const items: T[] = [];
  advance(lexer);
  while (!isSymbol(lexer, closing)) {
    items.push(nest(parser, parseItem));
    if (isSymbol(lexer, ",")) advance(lexer);
    else if (!isSymbol(lexer, closing)) throw unexpected(lexer, `"," or "${closing}"`);
  }
  const { end } = lexer;
  advance(lexer);
  return { items, end };
}

function parseObject(parser: Parser, start: number): Node {
  const { lexer } = parser;
  const { items: pairs, end } = parseItems(parser, "}", () => {
    const key = parseKey(parser);
    expect(lexer, ":");
    advance(lexer);
    return { key, value: parseBinary(parser, 0) };
  });
  return count(parser, { kind: "object", pairs, start, end });
}

function parseKey(parser: Parser): Node {
  const { lexer } = parser;
  const { start, end, kind, text } = lexer;
  if (kind === "name" || kind === "single-quoted") {
    advance(lexer);
    return count(parser, { kind: "literal", value: text, start, end });
  }
  if (kind === "double-quote") return parseDoubleQuoted(parser);
  if (isSymbol(lexer, "(")) return parseGroup(parser);
  if (kind !== "number") throw unexpected(lexer, "a key");
  const hint = "Quote the key.";
  throw syntaxError("INVALID_KEY", "The key of an object must be a string", { source: lexer.source, start, end, hint });
}

function parseDoubleQuoted(parser: Parser): Node {
  const { lexer } = parser;
  const { start } = lexer;
  const parts: (string | Node)[] = [];
  for (;;) {
    const { text, isLast } = readStringPart(lexer, start);
    if (text !== "") parts.push(text);
    if (isLast) break;
    parts.push(nest(parser, () => parseDelimited(parser)));
  }
  const { end } = lexer;
  advance(lexer);
  if (parts.every((part) => typeof part === "string")) {
    return count(parser, { kind: "literal", value: parts.join(""), start, end });
  }
  return count(parser, { kind: "text", parts, start, end });
}
