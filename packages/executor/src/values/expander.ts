import {
  expandText,
  expandValue,
  ExpressionError,
  type ExpressionNote,
  type FunctionTable,
  type Scope,
} from "@steps/expression";
import { mapObject, type RuntimeString, type RuntimeValue, Sensitive, sensitive, type Value } from "@steps/model";
import { formatDiagnostic, type Position, positionAt } from "@steps/model/diagnostic";
import { ExecuteError } from "../outcome/execute-error.ts";
import { stepFunctions } from "./file-functions.ts";
import type { DefinitionSource } from "../run/level.ts";
import { type Run, tell } from "../run/run.ts";

/** The place of a text: in words, and as a JSON pointer within its SpecDefinition. */
export interface TextPlace {
  /** The place in the words of a message, such as `env "X"`. */
  readonly what: string;
  /** The place as a JSON pointer into the encoded baseline, such as `/definition/env/X`. */
  readonly pointer: string;
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
  const attempt = <T>(template: Value, place: TextPlace, expand: (scope: Scope) => T): T => {
    run.state.readingPath = path;
    try {
      return expand((known ??= scope()));
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      explain(run, error, { path, source, place, template });
      throw new ExecuteError("EXPRESSION_FAILED", `${place.what}: ${error.message}`);
    }
  };
  return {
    text(text, place) {
      if (!text.includes("${{")) return text;
      return attempt(text, place, (at) => expandText(text, at, { onNote, ...functions }));
    },
    value(value, place) {
      if (typeof value === "string" ? !value.includes("${{") : typeof value !== "object") return value;
      return attempt(value, place, (at) => snapshot(expandValue(value, at, { onNote, ...functions })));
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
    position: position && narrow(position, error, template),
    hint: error.hint,
  });
  tell(run, { type: "note", at: Date.now(), path, level: "error", code: "diagnostic", message });
}

/** One step of a JSON pointer (RFC 6901). */
export function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

// The position is that of the scalar, or of its key. Where the text stands in the file as it is, the place within is known.
function narrow(position: Position, error: ExpressionError, template: Value | undefined): Position {
  const { source, offset } = position;
  if (typeof template === "string") {
    const start = source.text.indexOf(template, offset);
    if (start !== -1 && start <= offset + 2) return positionAt(source, start + error.offset, error.length);
  }
  if (error.expression === "") return position;
  const start = source.text.indexOf(error.expression, offset);
  const isNear = start !== -1 && start <= offset + Math.max(position.length, 200);
  return isNear ? positionAt(source, start, error.expression.length) : position;
}
