import {
  expandText,
  expandValue,
  ExpressionError,
  type EvaluateOptions,
  type ExpressionNote,
  type FunctionTable,
  type Scope,
} from "@steps/expression";
import { mapObject, type RuntimeString, type RuntimeValue, Sensitive, sensitive, type Value } from "@steps/model";
import { formatDiagnostic } from "@steps/model/diagnostic";
import { escapePointer } from "@steps/model/value";
import { ExecuteError } from "../outcome/execute-error.ts";
import { stepFunctions } from "./file-functions.ts";
import type { DefinitionSource } from "../run/level.ts";
import { type Run, tell } from "../run/run.ts";
import { narrowPosition } from "./narrow-position.ts";
import { unknownVariables } from "./unknown-variables.ts";

/** The place of a text: in words, and as a JSON pointer within its SpecDefinition. */
export interface TextPlace {
  /** The place in the words of a message, such as `env "X"`. */
  readonly what: string;
  /** The place as a JSON pointer into the encoded baseline, such as `/definition/env/X`. */
  readonly pointer: string;
  /** Whether a variable that the job does not have is an error, whatever the mode of the job. Default: no. */
  readonly needsVariables?: boolean;
}

/** Expands texts of one definition in one scope. What cannot be expanded is explained in a note. */
export interface Expander {
  /** @throws {ExecuteError} EXPRESSION_FAILED */
  text(text: string, place: TextPlace): RuntimeString;
  /** @throws {ExecuteError} EXPRESSION_FAILED */
  value(value: Value, place: TextPlace): RuntimeValue;
}

/** @param scope made when the first expression is met: most texts hold none */
export function createExpander(
  run: Run,
  scope: () => Scope,
  options: { readonly path: string; readonly source: DefinitionSource; readonly functions?: FunctionTable | undefined },
): Expander {
  const { path, source } = options;
  const functions = {
    functions: { ...stepFunctions(run.job.workDir), ...options.functions },
    isStrictMoa: run.job.mode?.isStrictMoa === true,
  };
  let known: Scope | undefined;
  const onNote = ({ code, message }: ExpressionNote): void => {
    tell(run, { type: "note", at: Date.now(), path, level: "debug", code, message });
  };
  const attempt = <T>(template: Value, place: TextPlace, expand: (scope: Scope, options: EvaluateOptions) => T): T => {
    run.state.readingPath = path;
    try {
      const onUnknownKey = place.needsVariables === true ? undefined : unknownVariables(run, path);
      return expand((known ??= scope()), { onNote, onUnknownKey, ...functions });
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      explain(run, error, { path, source, place, template });
      throw new ExecuteError("EXPRESSION_FAILED", `${place.what}: ${error.message}`);
    }
  };
  return {
    text(text, place) {
      if (!text.includes("${{")) return text;
      return attempt(text, place, (at, how) => expandText(text, at, how));
    },
    value(value, place) {
      if (typeof value === "string" ? !value.includes("${{") : typeof value !== "object") return value;
      return attempt(value, place, (at, how) => snapshot(expandValue(value, at, how)));
    },
  };
}

// A whole context may come out: some of them report reads, some change as the run goes on.
function snapshot(value: RuntimeValue): RuntimeValue {
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Sensitive) return sensitive(snapshot(value.value));
  return Array.isArray(value) ? value.map(snapshot) : mapObject(value, snapshot);
}

function explain(
  run: Run,
  error: ExpressionError,
  where: { path: string; source: DefinitionSource; place: TextPlace; template: Value },
): void {
  const { path, source, place } = where;
  const pointer = [place.pointer, ...error.path.map(escapePointer)].join("/");
  const template = error.path.reduce<Value | undefined>(
    (value, key) => (typeof value === "object" && value !== null ? (value as Record<string, Value>)[key] : undefined),
    where.template,
  );
  const position = source.positionOf?.(source.pointer + pointer) ?? source.positionOf?.(source.pointer + place.pointer);
  const message = formatDiagnostic({
    severity: "error",
    code: "expression-failed",
    message: `${place.what}: ${error.message}`,
    position: position && narrowPosition(position, template, error),
    hint: error.hint,
  });
  tell(run, { type: "note", at: Date.now(), path, level: "error", code: "diagnostic", message });
}
