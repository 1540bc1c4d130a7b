import assert from "node:assert/strict";
import { createScope, expand, ExpressionError } from "@steps/expression";
import { isSensitive, reveal, type RuntimeValue, sensitive, type Value } from "@steps/model";
import { secretTexts } from "@steps/model/value";
import { type Case, checkKeys, isRecord } from "./read-cases.ts";

/** Checks a case of kind `expression`: a template, a context, and a value or the code of an error. */
export function checkExpression({ data }: Case): void {
  checkKeys(data, ["template", "context", "sensitive", "expect"], "expression");
  const { template, context = {}, sensitive: marked = [], expect } = data;
  if (typeof template !== "string" || !isRecord(expect)) throw new Error("An expression case has template and expect");
  checkKeys(expect, ["value", "error", "sensitive"], "expect");
  const values = structuredClone(context) as Record<string, RuntimeValue>;
  for (const path of marked as readonly string[]) mark(values, path.split("."));
  const result = evaluate(template, values);
  if (isRecord(expect["error"])) {
    assert.ok(result.error, `Expected an error, got ${JSON.stringify(result.value)}`);
    assert.equal(result.error.code, expect["error"]["code"]);
    return;
  }
  if (result.error) throw result.error;
  const value = result.value as RuntimeValue;
  assert.deepEqual(plain(reveal(value)), expect["value"]);
  if (expect["sensitive"] !== undefined) assert.equal(hasMark(value), expect["sensitive"]);
}

function evaluate(
  template: string,
  context: Readonly<Record<string, RuntimeValue>>,
): { readonly value?: RuntimeValue; readonly error?: ExpressionError } {
  const scope = createScope(context);
  try {
    return { value: expand(template, scope) };
  } catch (error) {
    if (error instanceof ExpressionError) return { error };
    throw error;
  }
}

function mark(values: Record<string, RuntimeValue>, path: readonly string[]): void {
  const [key = "", ...rest] = path;
  if (rest.length === 0) values[key] = sensitive(values[key] as RuntimeValue);
  else mark(values[key] as Record<string, RuntimeValue>, rest);
}

function hasMark(value: RuntimeValue): boolean {
  return isSensitive(value) || !secretTexts(value).next().done;
}

// Objects of foreign keys have no prototype, those of a case have one.
function plain(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}
