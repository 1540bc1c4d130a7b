import { createObject, type RuntimeString, type RuntimeValue, Sensitive, type Value } from "@steps/model";
import { mark } from "./compare.ts";
import { ExpressionError, shorten, withPath } from "./error.ts";
import {
  createContext,
  type EvaluateOptions,
  evaluateTemplate,
  evaluateTemplateText,
  type TemplateContext,
} from "./evaluate.ts";
import { limits } from "./limits.ts";
import type { Scope } from "./scope.ts";
import { parseCached } from "./template.ts";

const OPENING = "${{";

/**
 * The value of a text: a single expression keeps its type, anything else is a string (conformance sections 6.8 and 20
 * C15).
 *
 * @throws {ExpressionError}
 */
export function expand(text: string, scope: Scope, options?: EvaluateOptions): RuntimeValue {
  return text.includes(OPENING) ? parseCached(text).evaluate(scope, options) : text;
}

/**
 * The value of a text as text: like `expand()`, with other values turned into text (conformance sections 6.7 and 20
 * C35) and all white space kept. Null is an error, except in the old dotted language, which writes `null`.
 *
 * @throws {ExpressionError}
 */
export function expandText(text: string, scope: Scope, options?: EvaluateOptions): RuntimeString {
  return text.includes(OPENING) ? parseCached(text).evaluateText(scope, options) : text;
}

/**
 * Expands every string inside a value, keys of objects too. The objects of the result have no prototype; one with a
 * sensitive key is sensitive as a whole.
 *
 * @throws {ExpressionError} with the `path` of the string; DUPLICATE_KEY if two keys become one
 */
export function expandValue(value: Value, scope: Scope, options?: EvaluateOptions): RuntimeValue {
  return expandDeep(value, createContext(scope, options), 0);
}

function expandDeep(value: Value, context: TemplateContext, depth: number): RuntimeValue {
  if (typeof value === "string") {
    return value.includes(OPENING) ? evaluateTemplate(parseCached(value).planned, context) : value;
  }
  if (typeof value !== "object" || value === null) return value;
  if (depth > limits.maxValueDepth) {
    throw new ExpressionError("VALUE_TOO_DEEP", `The value is nested more than ${limits.maxValueDepth} levels deep`);
  }
  if (!Array.isArray(value)) return expandObject(value, context, depth);
  return value.map((item, i) => at(String(i), () => expandDeep(item, context, depth + 1)));
}

function expandObject(value: { [key: string]: Value }, context: TemplateContext, depth: number): RuntimeValue {
  const result = createObject<RuntimeValue>();
  let isMarked = false;
  for (const source of Object.keys(value)) {
    at(source, () => {
      const key = source.includes(OPENING) ? evaluateTemplateText(parseCached(source).planned, context) : source;
      const isKeyMarked = key instanceof Sensitive;
      isMarked ||= isKeyMarked;
      const name = isKeyMarked ? (key.value as string) : key;
      if (Object.hasOwn(result, name)) {
        throw new ExpressionError("DUPLICATE_KEY", `The key "${shorten(source)}" comes out like another one`);
      }
      result[name] = expandDeep(value[source] as Value, context, depth + 1);
    });
  }
  return mark(result, isMarked);
}

function at<T>(key: string, expandPart: () => T): T {
  try {
    return expandPart();
  } catch (error) {
    throw withPath(error, key);
  }
}
