import { createObject, type RuntimeValue } from "@steps/model";
import { type Budget, spend, spendNode } from "./budget.ts";
import { ExpressionError } from "./error.ts";
import { limits } from "./limits.ts";
import { finite } from "./operators.ts";

const UNITS_PER_CHARACTER = 8;

/** Reads JSON; its objects have no prototype. @throws {ExpressionError} INVALID_ARGUMENT, NUMBER_NOT_FINITE, limits */
export function parseJson(text: string, budget: Budget): RuntimeValue {
  spend(budget, text.length * UNITS_PER_CHARACTER);
  checkDepth(text);
  let value: RuntimeValue;
  try {
    value = JSON.parse(text) as RuntimeValue;
  } catch {
    // The engine's message quotes the text, which may be a secret.
    throw new ExpressionError("INVALID_ARGUMENT", "The text is not JSON");
  }
  return adopt(value, budget, 0);
}

// The depth is checked before parsing, because nested arrays cost far more memory than the text that makes them.
function checkDepth(text: string): void {
  let depth = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text[at];
    if (unit === '"') isString = !isString;
    else if (isString && unit === "\\") at++;
    else if (!isString && (unit === "[" || unit === "{")) depth++;
    else if (!isString && (unit === "]" || unit === "}")) depth--;
    if (depth > limits.maxValueDepth) {
      throw new ExpressionError("VALUE_TOO_DEEP", `The JSON is nested more than ${limits.maxValueDepth} levels deep`);
    }
  }
}

function adopt(value: RuntimeValue, budget: Budget, depth: number): RuntimeValue {
  spendNode(budget, depth);
  if (typeof value === "number") return finite(value);
  if (Array.isArray(value)) return value.map((item) => adopt(item, budget, depth + 1));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, item]) => [key, adopt(item, budget, depth + 1)] as const);
  return createObject(entries);
}
