import assert from "node:assert/strict";
import {
  checkCondition,
  checkTemplate,
  CONTEXTS_OF,
  type Contexts,
  evaluateCondition,
  evaluateTemplate,
  type EvaluateOptions,
  type ExpressionPlace,
  GithubExpressionError,
  type StatusFacts,
} from "@steps/github-language";
import type { Value } from "@steps/model";
import { findMismatches } from "./find-mismatches.ts";
import { type Case, checkKeys, isRecord } from "./read-cases.ts";

const KEYS = ["text", "condition", "contexts", "status", "place", "expect"];

/**
 * Checks a case of kind `github-expression`: a text or a condition in GitHub's language, and what it comes to or, where its place is
 * named, what is wrong with it before anything runs.
 */
export function checkGithubExpression({ data }: Case): void {
  checkKeys(data, KEYS, "github-expression");
  const { text, condition, place, expect } = data;
  const source = text ?? condition;
  if (typeof source !== "string" || (text === undefined) === (condition === undefined) || !isRecord(expect)) {
    throw new Error("A github-expression case has text or condition, and expect");
  }
  checkKeys(expect, ["value", "holds", "explanation", "warning", "error", "problems"], "expect");
  if (expect["problems"] === undefined) checkValue(source, data, expect);
  else checkProblems(source, { isCondition: condition !== undefined, place, expected: expect["problems"] });
}

interface Found {
  readonly value?: Value;
  readonly holds?: boolean;
  readonly explanation?: string;
  readonly warning?: string;
  readonly error?: GithubExpressionError;
}

function checkValue(source: string, data: Case["data"], expect: Readonly<Record<string, unknown>>): void {
  const { contexts = {}, status } = data;
  if (!isRecord(contexts)) throw new Error("contexts is a mapping");
  const options: EvaluateOptions = {
    contexts: contexts as Contexts,
    status: status === undefined ? undefined : statusOf(status),
  };
  const { error, ...found } = evaluate(source, options, data["condition"] !== undefined);
  if (isRecord(expect["error"])) {
    assert.ok(error, `Expected an error, got ${JSON.stringify(found)}`);
    const { code, offset, length, hint, message } = error;
    assertMatches(expect["error"], { code, offset, length, hint, message }, "/error");
    return;
  }
  if (error) throw error;
  const { value, ...rest } = expect;
  // Apart, as only the value is compared whole.
  if ("value" in expect) assert.deepEqual(plain(found.value ?? null), value);
  assertMatches(rest, found, "");
}

function evaluate(source: string, options: EvaluateOptions, isCondition: boolean): Found {
  try {
    return isCondition ? evaluateCondition(source, options) : { value: evaluateTemplate(source, options) };
  } catch (error) {
    if (error instanceof GithubExpressionError) return { error };
    throw error;
  }
}

function statusOf(status: unknown): StatusFacts {
  if (status !== "success" && status !== "failure" && status !== "cancelled") {
    throw new Error(`status is success, failure or cancelled, not ${JSON.stringify(status)}`);
  }
  return {
    isSuccess: status === "success",
    isFailure: status === "failure",
    isCancelled: status === "cancelled",
  };
}

function checkProblems(
  source: string,
  {
    isCondition,
    place,
    expected,
  }: { readonly isCondition: boolean; readonly place: unknown; readonly expected: unknown },
): void {
  const names = CONTEXTS_OF[place as ExpressionPlace] as (typeof CONTEXTS_OF)[ExpressionPlace] | undefined;
  if (names === undefined) throw new Error(`There is no place ${JSON.stringify(place)}`);
  const found = isCondition ? checkCondition(source, names) : checkTemplate(source, names);
  assertMatches(expected, found, "/problems");
}

function assertMatches(expected: unknown, found: unknown, place: string): void {
  const mismatches = findMismatches(expected, found, place);
  if (mismatches.length > 0) throw new Error(mismatches.join("\n"));
}

// Values that JSON cannot write stay unchanged. Objects made by the language have no prototype, those of a case have
// one.
function plain(value: Value): Value {
  return typeof value === "object" && value !== null ? (JSON.parse(JSON.stringify(value)) as Value) : value;
}
