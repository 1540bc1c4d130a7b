import { isSensitive, reveal, type RuntimeValue, sensitive, type Value } from "@steps/model";
import { equalValues } from "@steps/model/value";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createScope, expand, ExpressionError, expandText } from "./index.ts";

// A second, slow and plain implementation of the language without marks, to compare with.

type Tree =
  | { kind: "value"; value: null | boolean | number | string }
  | { kind: "leaf"; name: string }
  | { kind: "array"; items: Tree[] }
  | { kind: "object"; entries: [string, Tree][] }
  | { kind: "unary"; operator: string; operand: Tree }
  | { kind: "binary"; operator: string; left: Tree; right: Tree }
  | { kind: "index"; base: Tree; key: Tree }
  | { kind: "text"; parts: (string | Tree)[] };

const leaves: Readonly<Record<string, Value>> = {
  one: 1,
  word: "w",
  none: "",
  yes: true,
  list: [1, "b", [2]],
  table: { a: 1, b: { a: "deep" } },
};

const LEVELS = [["||"], ["&&"], ["==", "!=", "<=", ">=", "<", ">"], ["+", "-"], ["*", "/", "%"]];
const levelOf = (operator: string) => LEVELS.findIndex((level) => level.includes(operator));

const quote = (text: string) => JSON.stringify(text).replaceAll("${{", "\\${{");

/** The least parentheses that the precedence asks for, so that precedence is tested too. */
function print(tree: Tree, level = 0): string {
  switch (tree.kind) {
    case "value":
      return typeof tree.value === "string" ? quote(tree.value) : JSON.stringify(tree.value);
    case "leaf":
      return tree.name;
    case "array":
      return `[${tree.items.map((item) => print(item)).join(", ")}]`;
    case "object":
      return `{${tree.entries.map(([key, value]) => `${quote(key)}: ${print(value)}`).join(", ")}}`;
    case "index":
      return `${print(tree.base, 6)}[${print(tree.key)}]`;
    case "text":
      return `"${tree.parts.map((part) => (typeof part === "string" ? part : `\${{${print(part)}}}`)).join("")}"`;
    case "unary": {
      const text = `${tree.operator}${print(tree.operand, 5)}`;
      return level > 5 ? `(${text})` : text;
    }
    case "binary": {
      const own = levelOf(tree.operator);
      const text = `${print(tree.left, own)} ${tree.operator} ${print(tree.right, own + 1)}`;
      return level > own ? `(${text})` : text;
    }
  }
}

class Wrong extends Error {}

function interpret(tree: Tree): Value {
  switch (tree.kind) {
    case "value":
      return tree.value;
    case "leaf":
      return leaves[tree.name] as Value;
    case "array":
      return tree.items.map(interpret);
    case "object":
      return Object.fromEntries(tree.entries.map(([key, value]) => [key, interpret(value)]));
    case "unary":
      return interpretUnary(tree.operator, interpret(tree.operand));
    case "binary":
      return interpretBinary(tree.operator, tree.left, tree.right);
    case "index":
      return interpretIndex(interpret(tree.base), interpret(tree.key));
    case "text":
      return tree.parts.map((part) => (typeof part === "string" ? part : textOf(interpret(part)))).join("");
  }
}

function textOf(value: Value): string {
  if (value === null) throw new Wrong();
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isTrue(value: Value): boolean {
  return !["null", "false", "0", '""', "[]", "{}"].includes(JSON.stringify(value));
}

function interpretUnary(operator: string, value: Value): Value {
  if (operator === "!") return !isTrue(value);
  if (typeof value !== "number") throw new Wrong();
  return operator === "-" ? -value : value;
}

function interpretIndex(base: Value, key: Value): Value {
  if (Array.isArray(base)) {
    if (typeof key !== "number" || base[key] === undefined) throw new Wrong();
    return base[key];
  }
  if (base === null || typeof base !== "object" || typeof key !== "string") throw new Wrong();
  if (!Object.keys(base).includes(key)) throw new Wrong();
  return base[key] as Value;
}

function interpretBinary(operator: string, left: Tree, right: Tree): Value {
  const a = interpret(left);
  if (operator === "||") return isTrue(a) ? a : interpret(right);
  if (operator === "&&") return isTrue(a) ? interpret(right) : a;
  const b = interpret(right);
  switch (operator) {
    case "==":
      return equalValues(a, b);
    case "!=":
      return !equalValues(a, b);
    case "<":
      return order(a, b) < 0;
    case "<=":
      return order(a, b) <= 0;
    case ">":
      return order(a, b) > 0;
    case ">=":
      return order(a, b) >= 0;
    default:
      return calculate(operator, a, b);
  }
}

function calculate(operator: string, a: Value, b: Value): Value {
  if (operator === "+" && typeof a === "string" && typeof b === "string") return a + b;
  if (typeof a !== "number" || typeof b !== "number") throw new Wrong();
  const results: Record<string, number> = { "+": a + b, "-": a - b, "*": a * b, "/": a / b, "%": a % b };
  const result = results[operator] as number;
  if (!Number.isFinite(result)) throw new Wrong();
  return result;
}

const rank = (value: Value): number => {
  if (value === null) return 0;
  if (Array.isArray(value)) return 4;
  return { boolean: 1, number: 2, string: 3, object: 5 }[typeof value as "boolean" | "number" | "string" | "object"];
};

function order(a: Value, b: Value): number {
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (typeof a === "string") return Buffer.compare(Buffer.from(a), Buffer.from(b as string));
  if (Array.isArray(a)) return firstOrder(a, b as Value[]) || a.length - (b as Value[]).length;
  if (typeof a !== "object" || a === null) return Number(a) - Number(b);
  const [x, y] = [a, b as Record<string, Value>].map((object) => {
    const keys = Object.keys(object).toSorted((p, q) => Buffer.compare(Buffer.from(p), Buffer.from(q)));
    return { keys, values: keys.map((key) => object[key] as Value) };
  }) as [{ keys: string[]; values: Value[] }, { keys: string[]; values: Value[] }];
  return x.keys.length - y.keys.length || firstOrder(x.keys, y.keys) || firstOrder(x.values, y.values);
}

function firstOrder(a: Value[], b: Value[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const result = order(a[i] as Value, b[i] as Value);
    if (result !== 0) return result;
  }
  return 0;
}

const word = fc.oneof(fc.constantFrom("", "a", "b", "~\u{ffff}", "\u{10000}", "${{", "}}", "'\"\\"), fc.string());
const wellFormed = word.filter((text) => text.isWellFormed());
const { tree } = fc.letrec<{ tree: Tree }>((tie) => {
  const node = tie("tree");
  return {
    tree: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.record({ kind: fc.constant("leaf" as const), name: fc.constantFrom(...Object.keys(leaves)) }),
      fc.record({
        kind: fc.constant("value" as const),
        value: fc.oneof(fc.constantFrom(null, true, false, 0, 1, 2, 0.5, 1e300), fc.nat(), wellFormed),
      }),
      fc.record({ kind: fc.constant("array" as const), items: fc.array(node, { maxLength: 3 }) }),
      fc.record({
        kind: fc.constant("object" as const),
        entries: fc.uniqueArray(fc.tuple(fc.constantFrom("a", "b", "~", "\u{10000}"), node), {
          maxLength: 3,
          selector: ([key]) => key,
        }),
      }),
      fc.record({ kind: fc.constant("unary" as const), operator: fc.constantFrom("!", "-", "+"), operand: node }),
      fc.record({
        kind: fc.constant("binary" as const),
        operator: fc.constantFrom(...LEVELS.flat()),
        left: node,
        right: node,
      }),
      fc.record({ kind: fc.constant("index" as const), base: node, key: node }),
      fc.record({
        kind: fc.constant("text" as const),
        parts: fc.array(fc.oneof(fc.constantFrom("a", " ", "}}"), node), { maxLength: 3 }),
      }),
    ),
  };
});

const outcome = (action: () => Value): { value: string } | "wrong" => {
  try {
    return { value: JSON.stringify(action()) };
  } catch (error) {
    if (error instanceof Wrong || error instanceof ExpressionError) return "wrong";
    throw error;
  }
};

describe("a random expression", () => {
  test("has the value that the reference interpreter finds, or fails with it", () => {
    const scope = createScope(leaves);
    let values = 0;
    fc.assert(
      fc.property(tree, (expression) => {
        const wanted = outcome(() => interpret(expression));
        if (wanted !== "wrong") values++;
        expect(outcome(() => reveal(expand(`\${{ ${print(expression)} }}`, scope)))).toEqual(wanted);
      }),
      { numRuns: 5000 },
    );
    expect(values).toBeGreaterThan(1000);
  });

  test("has the same value with and without marks, and is marked as text if a marked leaf was looked up", () => {
    fc.assert(
      fc.property(tree, fc.subarray(Object.keys(leaves)), (expression, marked) => {
        const used = new Set<string>();
        const scope = createScope(
          Object.fromEntries(
            Object.entries(leaves).map(([name, value]) => [
              name,
              (): RuntimeValue => {
                used.add(name);
                return marked.includes(name) ? sensitive(value) : value;
              },
            ]),
          ),
        );
        const text = `\${{ ${print(expression)} }}`;
        const wanted = outcome(() => interpret(expression));
        expect(outcome(() => reveal(expand(text, scope)))).toEqual(wanted);
        if (wanted === "wrong" || wanted.value === "null") return;
        used.clear();
        const result = expandText(`<${text}>`, scope);
        // A value that was looked up and then dropped by an access leaves no mark: [secret, 1][1] is not secret.
        if (!text.includes("[")) expect(isSensitive(result)).toBe(marked.some((name) => used.has(name)));
        else if (!marked.some((name) => used.has(name))) expect(isSensitive(result)).toBe(false);
      }),
      { numRuns: 5000 },
    );
  });
});
