import { toCiText } from "../load/ci-value.ts";
import type { InputCondition, MatchPattern } from "../load/load-file.ts";
import { evaluateIf } from "./if/evaluate-if.ts";
import { IfError } from "./if/if-error.ts";
import { parseIf } from "./if/parse-if.ts";
import { type CompilePattern, loadPatterns, PatternError } from "./if/patterns.ts";

/** The functions that say whether inputs have values that they take. */
export interface InputTools {
  readonly matchPattern: MatchPattern;
  readonly inputCondition: InputCondition;
}

/** Judges `regex` and `rules:if` of inputs for `loadPipeline()`. The engine of patterns is loaded when it is asked for first. */
export function createInputTools(patterns: () => Promise<CompilePattern> = loadPatterns): InputTools {
  return {
    matchPattern: async (pattern, text) => {
      const compile = await patterns();
      try {
        return compile(pattern, "").test(text);
      } catch (error) {
        if (error instanceof PatternError) return { message: error.message };
        throw error;
      }
    },
    inputCondition: async (condition, inputs, report) => {
      const { text, valueOf } = withVariables(condition.text, inputs);
      try {
        const parsed = parseIf(text);
        const compile = parsed.needsPatterns ? await patterns() : undefined;
        return evaluateIf(parsed, { valueOf, compile }).holds;
      } catch (error) {
        if (!(error instanceof IfError || error instanceof PatternError)) throw error;
        const { part, hint } = error instanceof IfError ? { part: error, hint: error.hint } : {};
        report.error(condition, { code: "invalid-condition", message: error.message, hint, part });
        return false;
      }
    },
  };
}

type Inputs = Parameters<InputCondition>[1];

const INPUT = /\$\[\[\s*inputs\.([A-Za-z0-9_-]+)\s*\]\]/g;

// Each input becomes a word of the same length that conditions know, so that places stay what they are.
function withVariables(
  condition: string,
  inputs: Inputs,
): { readonly text: string; readonly valueOf: (name: string) => string | undefined } {
  const values = new Map<string, string>();
  const text = condition.replaceAll(INPUT, (block: string, name: string) => {
    const value = inputs.get(name) ?? null;
    if (typeof value === "boolean" || value === null) return String(value).padEnd(block.length);
    const variable = `i${values.size}`.padEnd(block.length - 1, "_");
    values.set(variable, toCiText(value));
    return `$${variable}`;
  });
  return { text, valueOf: (name) => values.get(name) };
}
