import type { UsedName } from "@steps/expression/names";
import { checkOptionNames, type OptionNames, type Value } from "@steps/model";
import type { SpecDefinition } from "@steps/model/definition";
import type { Position } from "@steps/model/diagnostic";
import { isMisspelt, type KeyTable, OWN_KEY, unknownKeyHint } from "@steps/source/keys";
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
import type { CompilerCode, CompilerDiagnostic } from "./diagnostic-rules.ts";

/** The treatment of names that are certain to be unknown; see `CompileOptions`. */
type UnknownNames = "error" | "run" | "warning";

/** Options that all functions of the compiler take. All are off by default. */
export interface CompileOptions {
  /** When true, unknown keys are warnings instead of errors. Default: false. */
  readonly isLenient?: boolean;
  /** When true, inputs and outputs without a type are errors, as in 2025, instead of notes. Default: false. */
  readonly requiresTypes?: boolean;
  /**
   * The treatment of names in expressions that are certain to be unknown: contexts, functions, inputs and secrets that the spec does
   * not declare, steps that do not stand before. `error`: each is an error. `run`, for what is going to run: an error where no run
   * could succeed, since each would read it, and a warning elsewhere. `warning`: each is a warning. Default: they are not looked
   * for, and fail when they are read.
   */
  readonly unknownNames?: UnknownNames;
}

/** The result of compiling a text, with all its diagnostics. */
export interface Compiled {
  /** `undefined` if and only if there are errors among the diagnostics. */
  readonly specDefinition: SpecDefinition | undefined;
  /** In the order of the text. */
  readonly diagnostics: readonly CompilerDiagnostic[];
  /**
   * The place of a JSON pointer into the baseline, as the baseline is encoded: `/definition/exec/command/0`,
   * `/definition/steps/2/inputs/who`, `/spec/inputs/x/default`. A part without a place has the place of the part around it.
   * With `key` as the second argument it is the place of the key that the part stands under.
   */
  readonly positionOf: (pointer: string, part?: "key") => Position | undefined;
}

/** Gathers what is wrong with a text that is compiled. */
export type CompilerReport = Report<CompilerCode, CompilerDiagnostic["code"]>;

/** The state that the readers of one text share. */
export interface CompileContext {
  readonly report: CompilerReport;
  /**
   * By JSON pointer. What stands in the text under the names of its pointer, below a node that is noted, is found without a note of
   * its own.
   */
  readonly places: Places;
  readonly options: CompileOptions;
  /** Whether messages of the baseline are welcome where an author's forms are. */
  readonly acceptsBaseline: boolean;
  /** Templates that were checked: an aliased one is read once. */
  readonly checked: Set<YamlNode>;
  /** The names in the expressions of texts that were checked; `undefined` when they are not asked for. */
  readonly names: Map<string, readonly UsedName[]> | undefined;
}

const OPTION_NAMES: OptionNames<CompileOptions> = { isLenient: true, requiresTypes: true, unknownNames: true };

/** @throws {TypeError} for an option that there is none of */
export function createContext(
  options: CompileOptions,
  { acceptsBaseline = false }: { readonly acceptsBaseline?: boolean } = {},
): CompileContext {
  checkOptionNames("The compiler", options, OPTION_NAMES);
  return {
    report: new Report(),
    places: new Map(),
    options,
    acceptsBaseline,
    checked: new Set(),
    names: options.unknownNames === undefined ? undefined : new Map(),
  };
}

/** Ends a compilation: errors leave no definition. */
export function finishCompile(context: CompileContext, specDefinition: SpecDefinition | undefined): Compiled {
  const { report, places } = context;
  return {
    specDefinition: report.hasErrors ? undefined : specDefinition,
    diagnostics: report.finish(),
    positionOf: (pointer, part) => positionIn(places, pointer, part),
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

const sets = new WeakMap<KeyTable, ReadonlySet<string>>();

function knownKeys(table: KeyTable): ReadonlySet<string> {
  let known = sets.get(table);
  if (known === undefined) sets.set(table, (known = new Set(table.known)));
  return known;
}

/** Reports the keys that a mapping must not have; `x-…` and `.…` are the author's own. */
export function checkKeys(context: CompileContext, node: YamlMapping, table: KeyTable): void {
  const severity = context.options.isLenient === true ? "warning" : "error";
  const known = knownKeys(table);
  for (const [name, { key }] of node.entries) {
    if (known.has(name) || OWN_KEY.test(name)) continue;
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

/** Keys of which a mapping has none, the table of all its keys, and the report of it. */
interface MissingKeys {
  readonly table: KeyTable;
  readonly missing: readonly string[];
  readonly message: string;
  readonly hint?: string;
}

/** Reports that a mapping has none of some keys, unless `checkKeys()` has reported an error that advises one of them. */
export function reportMissing(
  context: CompileContext,
  node: YamlMapping,
  { table, missing, ...problem }: MissingKeys,
): void {
  if (context.options.isLenient !== true && isMisspelt(node.entries.keys(), missing, table)) return;
  context.report.error(node, { code: "missing-key", ...problem });
}
