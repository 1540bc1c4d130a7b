import {
  type Binary,
  type ContextAccess,
  type Expr,
  type ExprVisitor,
  type FunctionCall,
  Grouping,
  type IndexAccess,
  type Literal,
  Logical,
  Star,
  type Unary,
} from "@actions/expressions/ast";
import { ExpressionError } from "@actions/expressions/errors";
import { type Token, TokenType } from "@actions/expressions/lexer";
import { Parser } from "@actions/expressions/parser";
import { Failure } from "./error.ts";
import { expressionLimits } from "./limits.ts";
import type { CallNode, CompareNode, ContextNode, Node } from "./node.ts";
import { readTokens, unexpected } from "./tokens.ts";

/** An expression that was read; which names exist where it stands is another question. */
export interface Expression {
  readonly node: Node;
  /** Every context it names, in the order of the text. */
  readonly contexts: readonly ContextNode[];
  /** Every function it calls. */
  readonly calls: readonly CallNode[];
}

/** Reads an expression without its `${{ }}`, by GitHub's parser. @throws {Failure} */
export function parseExpression(source: string): Expression {
  const tokens = readTokens(source);
  if (tokens.length === 1) throw new Failure("EMPTY_EXPRESSION", "An expression was expected");
  refuseTrailingCommas(tokens);
  const converter = new Converter();
  const node = converter.convert(parseTokens(tokens));
  return { node, contexts: converter.contexts, calls: converter.calls };
}

// The parser takes `f(a,)`; the runner does not.
function refuseTrailingCommas(tokens: readonly Token[]): void {
  for (const [i, token] of tokens.entries()) {
    if (token.type === TokenType.COMMA && tokens[i + 1]?.type === TokenType.RIGHT_PAREN) {
      throw unexpected(")", tokens[i + 1]?.range.start.column ?? 0);
    }
  }
}

// The parser looks names up while it reads. It is told that all there are exist, so that all that do not can be named at
// once, and that functions are called what none of its own is.
const CALLED = "()";

function parseTokens(tokens: readonly Token[]): Expr {
  const contexts: string[] = [];
  const functions: { name: string; minArgs: number; maxArgs: number }[] = [];
  const renamed = tokens.map((token, i) => {
    if (token.type !== TokenType.IDENTIFIER || tokens[i - 1]?.type === TokenType.DOT) return token;
    if (tokens[i + 1]?.type !== TokenType.LEFT_PAREN) {
      contexts.push(token.lexeme);
      return token;
    }
    const name = token.lexeme + CALLED;
    functions.push({ name, minArgs: 0, maxArgs: Number.MAX_SAFE_INTEGER });
    return { ...token, lexeme: name };
  });
  try {
    return new Parser(renamed, contexts, functions).parse();
  } catch (error) {
    throw syntaxFailure(error, tokens);
  }
}

function syntaxFailure(error: unknown, tokens: readonly Token[]): Failure {
  const place = error instanceof ExpressionError ? error.pos.column : 0;
  const token = tokens.find(({ range }) => range.start.column === place);
  const message = error instanceof Error ? error.message : "";
  if (message.startsWith("Exceeded max expression depth")) return tooDeep(place, token?.lexeme.length ?? 0);
  const end = tokens.at(-1)?.range.start.column ?? 0;
  if (token === undefined || token.type === TokenType.EOF || message.startsWith("Unexpected end of expression")) {
    return new Failure("UNEXPECTED_END", "The expression ends too early", { offset: end, length: 0 });
  }
  return unexpected(token.lexeme, place);
}

function tooDeep(offset: number | undefined, length: number | undefined): Failure {
  const message = `The expression is nested more than ${expressionLimits.maxDepth} levels deep`;
  return new Failure("EXPRESSION_TOO_DEEP", message, { offset, length });
}

/** Makes our tree of the parser's: without parentheses, with its depth counted as the runner does. */
class Converter implements ExprVisitor<Node> {
  readonly contexts: ContextNode[] = [];
  readonly calls: CallNode[] = [];
  #depth = 0;

  convert(expression: Expr): Node {
    if (this.#depth >= expressionLimits.maxDepth) throw tooDeep(undefined, undefined);
    this.#depth++;
    const node = ungroup(expression).accept(this);
    this.#depth--;
    return node;
  }

  visitLiteral({ token }: Literal): Node {
    switch (token.type) {
      case TokenType.TRUE:
        return { type: "literal", value: true };
      case TokenType.FALSE:
        return { type: "literal", value: false };
      case TokenType.NULL:
        return { type: "literal", value: null };
      case TokenType.IDENTIFIER:
        return { type: "literal", value: token.lexeme };
      default:
        return { type: "literal", value: token.value as string | number };
    }
  }

  visitContextAccess({ name }: ContextAccess): Node {
    const node: ContextNode = { type: "context", ...written(name, name.lexeme) };
    this.contexts.push(node);
    return node;
  }

  visitFunctionCall({ functionName, args }: FunctionCall): Node {
    const name = written(functionName, functionName.lexeme.slice(0, -CALLED.length));
    const node: CallNode = { type: "call", ...name, args: args.map((argument) => this.convert(argument)) };
    this.calls.push(node);
    return node;
  }

  visitIndexAccess({ expr, index }: IndexAccess): Node {
    const object = this.convert(expr);
    if (index instanceof Star) return { type: "index", object, key: "*", isDotted: true };
    const isDotted = (index as Partial<Literal>).token?.type === TokenType.IDENTIFIER;
    return { type: "index", object, key: this.convert(index), isDotted };
  }

  visitUnary({ expr }: Unary): Node {
    return { type: "not", operand: this.convert(expr) };
  }

  visitBinary({ left, operator, right }: Binary): Node {
    const text = operator.lexeme as CompareNode["operator"];
    return { type: "compare", operator: text, left: this.convert(left), right: this.convert(right) };
  }

  visitLogical(logical: Logical): Node {
    const operator = logical.operator.lexeme as "&&" | "||";
    return { type: "logic", operator, operands: flatten(logical).map((operand) => this.convert(operand)) };
  }

  visitGrouping({ group }: Grouping): Node {
    return this.convert(group);
  }
}

function written(token: Token, text: string): { name: string; text: string; offset: number; length: number } {
  return { name: text.toLowerCase(), text, offset: token.range.start.column, length: text.length };
}

function ungroup(expression: Expr): Expr {
  let inner = expression;
  while (inner instanceof Grouping) inner = inner.group;
  return inner;
}

// `(a && b) && c` is one operation; the parser bounds how deep parentheses go.
function flatten(logical: Logical): Expr[] {
  return logical.args.flatMap((argument) => {
    const inner = ungroup(argument);
    const isSame = inner instanceof Logical && inner.operator.lexeme === logical.operator.lexeme;
    return isSame ? flatten(inner) : [argument];
  });
}
