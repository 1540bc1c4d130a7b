import type { Value } from "@steps/model";
import type { SpecDefinition } from "@steps/model/definition";
import type { Diagnostic, Position } from "@steps/model/diagnostic";
import { type KeyTable, OWN_KEY, unknownKeyHint } from "@steps/source/keys";
import {
  describeNode,
  type Places,
  positionIn,
  Report,
  toValue,
  type YamlMapping,
  type YamlNode,
  type YamlScalar,
} from "@steps/source";
import type { CompilerCode } from "./diagnostic-rules.ts";

/** Options that all functions of the compiler take. All are false by default. */
export interface CompileOptions {
  /** When true, unknown keys are warnings instead of errors. Default: false. */
  readonly isLenient?: boolean;
  /** When true, inputs and outputs without a type are errors, as in 2025, instead of notes. Default: false. */
  readonly requiresTypes?: boolean;
  /**
   * When true, names in expressions that are certain to be unknown are errors: contexts, functions, inputs and secrets that the
   * spec does not declare, steps that do not stand before. Default: false, they fail when they are read.
   */
  readonly checksNames?: boolean;
}

/** The result of compiling a text, with all its diagnostics. */
export interface Compiled {
  /** `undefined` if and only if there are errors among the diagnostics. */
  readonly specDefinition: SpecDefinition | undefined;
  /** In the order of the text. */
  readonly diagnostics: readonly Diagnostic[];
  /**
   * The place of a JSON pointer into the baseline, as the baseline is encoded: `/definition/exec/command/0`,
   * `/definition/steps/2/inputs/who`, `/spec/inputs/x/default`. A part without a place has the place of the part around it.
   */
  readonly positionOf: (pointer: string) => Position | undefined;
}

/** Gathers what is wrong with a text that is compiled. */
export type CompilerReport = Report<CompilerCode>;

/** The state that the readers of one text share. */
export interface CompileContext {
  readonly report: CompilerReport;
  /** By JSON pointer. */
  readonly places: Places;
  readonly options: CompileOptions;
  /** Whether messages of the baseline are welcome where an author's forms are. */
  readonly acceptsBaseline: boolean;
  /** Templates that were checked: an aliased one is read once. */
  readonly checked: Set<YamlNode>;
}

export function createContext(options: CompileOptions & { readonly acceptsBaseline?: boolean }): CompileContext {
  return {
    report: new Report(),
    places: new Map(),
    options,
    acceptsBaseline: options.acceptsBaseline === true,
    checked: new Set(),
  };
}

/** Ends a compilation: errors leave no definition. */
export function finishCompile(context: CompileContext, specDefinition: SpecDefinition | undefined): Compiled {
  const { report, places } = context;
  return {
    specDefinition: report.hasErrors ? undefined : specDefinition,
    diagnostics: report.finish(),
    positionOf: (pointer) => positionIn(places, pointer),
  };
}

/** The node as a mapping; anything else is reported. */
export function asMapping(
  context: CompileContext,
  node: YamlNode,
  what: string,
  hint?: string,
): YamlMapping | undefined {
  if (node.kind === "mapping") return node;
  wrongType(context, node, `${what} must be a mapping`, hint);
  return undefined;
}

/** The text of a scalar, as written if it is a number or a boolean; anything else is reported. */
export function asText(context: CompileContext, node: YamlNode, what: string, hint?: string): string | undefined {
  if (node.kind === "scalar" && node.value !== null) return node.text;
  wrongType(context, node, `${what} must be a string`, hint);
  return undefined;
}

/** The string of a scalar that is written as one; anything else is reported. */
export function asString(context: CompileContext, node: YamlNode, what: string, hint?: string): string | undefined {
  if (node.kind === "scalar" && typeof node.value === "string") return node.value;
  wrongType(context, node, `${what} must be a string`, hint);
  return undefined;
}

export function wrongType(context: CompileContext, node: YamlNode, message: string, hint?: string): void {
  context.report.error(node, () => ({
    code: "wrong-type",
    message: `${message}, found ${describeNode(node)}`,
    hint,
  }));
}

/** Gives the JSON value of a node, and reports numbers that JSON cannot hold. */
export function asValue(context: CompileContext, node: YamlNode): Value {
  checkNumbers(context, node);
  return toValue(node);
}

function checkNumbers(context: CompileContext, node: YamlNode): void {
  if (node.kind === "list") for (const item of node.items) checkNumbers(context, item);
  else if (node.kind === "mapping") for (const { value } of node.entries.values()) checkNumbers(context, value);
  else if (typeof node.value === "number") checkNumber(context, node, node.value);
}

function checkNumber(context: CompileContext, node: YamlScalar, value: number): void {
  if (!Number.isFinite(value)) {
    context.report.error(node, () => ({
      code: "invalid-number",
      message: `The number has no JSON form: ${node.text.slice(0, 40)}`,
      hint: "Quote it if it is meant as text.",
    }));
  } else if (Number.isInteger(value) && !Number.isSafeInteger(value) && /^[-+]?\d+$/.test(node.text)) {
    context.report.warn(node, () => ({
      code: "inexact-number",
      message: `The number is too large to be exact: ${node.text.slice(0, 40)}`,
      hint: "Quote it if it is an identifier.",
    }));
  }
}

/** A table with further keys, which baseline messages have. */
export function withKeys(table: KeyTable, keys: readonly string[]): KeyTable {
  return { ...table, known: [...table.known, ...keys] };
}

/** Reports the keys that a mapping must not have; `x-…` and `.…` are the author's own. */
export function checkKeys(context: CompileContext, node: YamlMapping, table: KeyTable): void {
  const severity = context.options.isLenient === true ? "warning" : "error";
  for (const [name, { key }] of node.entries) {
    if (table.known.includes(name) || OWN_KEY.test(name)) continue;
    if (table.later?.includes(name)) {
      context.report.error(key, {
        code: "not-supported",
        message: `The key "${name}" of ${table.what} is not supported yet`,
        hint: "A later release will bring it; remove it until then.",
      });
      continue;
    }
    context.report.add(severity, key, () => ({
      code: "unknown-key",
      message: `Unknown key in ${table.what}: "${name.slice(0, 80)}"`,
      hint: unknownKeyHint(name, table),
    }));
  }
}
