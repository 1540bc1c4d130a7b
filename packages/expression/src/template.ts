import type { RuntimeString, RuntimeValue } from "@steps/model";
import type { ExpressionError } from "./error.ts";
import {
  createContext,
  type EvaluateOptions,
  evaluateTemplate,
  evaluateTemplateText,
  type PlannedTemplate,
  planTemplate,
} from "./evaluate.ts";
import { readTemplate } from "./read-template.ts";
import type { Scope } from "./scope.ts";

/** A text that may hold `${{ }}` expressions, ready to be evaluated any number of times. */
export interface Template {
  readonly source: string;
  /** No expression at all; there may be escapes. */
  readonly isLiteral: boolean;
  /** True for a single expression with at most white space around it; its value keeps its type. */
  readonly isSingle: boolean;
  /**
   * Names of the scope that the expressions use, each once. A name that only one of two readings of a hyphenated text
   * would use is left out.
   */
  readonly roots: readonly string[];
  /** Names of the functions that the expressions call, each once. */
  readonly calls: readonly string[];
  /** @throws {ExpressionError} */
  readonly evaluate: (scope: Scope, options?: EvaluateOptions) => RuntimeValue;
  /** Like `evaluate()`, with the value turned into text; null has none. @throws {ExpressionError} */
  readonly evaluateText: (scope: Scope, options?: EvaluateOptions) => RuntimeString;
}

/** A template with what is needed to share one budget between several. */
export interface ParsedTemplate extends Template {
  readonly planned: PlannedTemplate;
}

const MAX_CACHED = 2048;
const MAX_CACHED_LENGTH = 16 * 1024;
// A tree takes many times the memory of its text.
const MAX_CACHED_TOTAL_LENGTH = 512 * 1024;
const cache = new Map<string, ParsedTemplate>();
let cachedLength = 0;

/**
 * Reads a template. The result is kept in a small cache, since the texts of a step are read each time it runs.
 *
 * @throws {ExpressionError} of an {@link ExpressionSyntaxErrorCode}, the first in the text
 */
export function parseTemplate(text: string): Template {
  return parseCached(text);
}

/** @throws {ExpressionError} */
export function parseCached(text: string): ParsedTemplate {
  const cached = cache.get(text);
  if (cached) return cached;
  const template = createTemplate(text);
  if (text.length > MAX_CACHED_LENGTH) return template;
  cachedLength += text.length;
  cache.set(text, template);
  for (const oldest of cache.keys()) {
    if (cache.size <= MAX_CACHED && cachedLength <= MAX_CACHED_TOTAL_LENGTH) break;
    cache.delete(oldest);
    cachedLength -= oldest.length;
  }
  return template;
}

function createTemplate(source: string): ParsedTemplate {
  const { parts, errors } = readTemplate(source);
  if (errors[0]) throw errors[0];
  const planned = planTemplate(source, parts);
  return {
    source,
    planned,
    isLiteral: parts.every((part) => typeof part === "string"),
    isSingle: planned.single !== undefined,
    roots: namesOf(parts, "roots"),
    calls: namesOf(parts, "calls"),
    evaluate: (scope, options) => evaluateTemplate(planned, createContext(scope, options)),
    evaluateText: (scope, options) => evaluateTemplateText(planned, createContext(scope, options)),
  };
}

function namesOf(parts: ReturnType<typeof readTemplate>["parts"], key: "roots" | "calls"): string[] {
  return [...new Set(parts.flatMap((part) => (typeof part === "string" ? [] : part[key])))];
}

/** All syntax errors of a template, the first hundred; never throws. */
export function checkTemplate(text: string): ExpressionError[] {
  return [...readTemplate(text).errors];
}
