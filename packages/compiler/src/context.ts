import { type Diagnostic, nearest, type Position, type SpecDefinition, type Value } from "@steps/model";
import { Collector, type Problem } from "./collector.ts";
import { type KeyTable, OWN_KEY } from "./keys/key-table.ts";
import { spanPosition } from "./span.ts";
import { describeNode, toValue, type YamlMapping, type YamlNode, type YamlScalar } from "./yaml-node.ts";

export interface CompileOptions {
  /** Unknown keys are warnings instead of errors. */
  readonly isLenient?: boolean;
  /** Inputs and outputs without a type are errors, as in 2025, instead of notes. */
  readonly isStrict?: boolean;
}

/** What a text was compiled to, with everything that was found wrong with it. */
export interface Compiled {
  /** `undefined` if and only if there are errors among the diagnostics. */
  readonly specDefinition: SpecDefinition | undefined;
  /** In the order of the text. */
  readonly diagnostics: readonly Diagnostic[];
  /**
   * The place of a JSON pointer into the baseline, as the baseline is encoded: `/definition/exec/command/0`,
   * `/definition/steps/2/inputs/who`, `/spec/inputs/x/default`. For a part that has no place, that of what it is part of.
   */
  readonly positionOf: (pointer: string) => Position | undefined;
}

/** What the readers of one text share. */
export interface CompileContext {
  readonly collector: Collector;
  /** By JSON pointer. */
  readonly places: Map<string, YamlNode>;
  readonly options: CompileOptions;
  /** Whether messages of the baseline are welcome where an author's forms are. */
  readonly acceptsBaseline: boolean;
  /** Templates that were checked: an aliased one is read once. */
  readonly checked: Set<YamlNode>;
}

export function createContext(options: CompileOptions & { readonly acceptsBaseline?: boolean }): CompileContext {
  return {
    collector: new Collector(),
    places: new Map(),
    options,
    acceptsBaseline: options.acceptsBaseline === true,
    checked: new Set(),
  };
}

/** Ends a compilation: errors leave no definition. */
export function finishCompile(context: CompileContext, specDefinition: SpecDefinition | undefined): Compiled {
  const { collector, places } = context;
  return {
    specDefinition: collector.hasErrors ? undefined : specDefinition,
    diagnostics: collector.finish(),
    positionOf: (pointer) => findPlace(places, pointer.replace(/^\/spec\/spec(?=\/|$)/, "/spec")),
  };
}

function findPlace(places: ReadonlyMap<string, YamlNode>, pointer: string): Position | undefined {
  const segments = pointer.split("/");
  for (let count = segments.length; count > 0; count--) {
    let node = places.get(segments.slice(0, count).join("/"));
    if (node === undefined) continue;
    for (const segment of segments.slice(count)) {
      const name = segment.replaceAll("~1", "/").replaceAll("~0", "~");
      const child: YamlNode | undefined =
        node.kind === "list"
          ? node.items[Number(name)]
          : node.kind === "mapping"
            ? node.entries.get(name)?.value
            : undefined;
      if (child === undefined) break;
      node = child;
    }
    return spanPosition(node);
  }
  return undefined;
}

/** A segment of a JSON pointer. */
export function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

export function reportNote(context: CompileContext, at: YamlNode, problem: () => Problem): void {
  context.collector.report(at, () => ({ ...problem(), severity: "note" }), "note");
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
  context.collector.report(node, () => ({
    code: "wrong-type",
    message: `${message}, found ${describeNode(node)}`,
    hint,
  }));
}

/** The JSON value of a node. What JSON cannot hold is reported. */
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
    context.collector.report(node, () => ({
      code: "invalid-number",
      message: `The number has no JSON form: ${node.text.slice(0, 40)}`,
      hint: "Quote it if it is meant as text.",
    }));
  } else if (Number.isInteger(value) && !Number.isSafeInteger(value) && /^[-+]?\d+$/.test(node.text)) {
    context.collector.report(
      node,
      () => ({
        severity: "warning",
        code: "inexact-number",
        message: `The number is too large to be exact: ${node.text.slice(0, 40)}`,
        hint: "Quote it if it is an identifier.",
      }),
      "warning",
    );
  }
}

/** Reports the keys that a mapping must not have; `x-…` and `.…` are the author's own. */
export function checkKeys(context: CompileContext, node: YamlMapping, table: KeyTable): void {
  const known = new Set(table.known);
  const severity = context.options.isLenient === true ? "warning" : "error";
  for (const [name, { key }] of node.entries) {
    if (known.has(name) || OWN_KEY.test(name)) continue;
    if (table.later?.includes(name)) {
      context.collector.report(key, {
        code: "not-supported",
        message: `The key "${name}" of ${table.what} is not supported yet`,
        hint: "A later release will bring it; remove it until then.",
      });
      continue;
    }
    context.collector.report(key, () => ({ severity, ...unknownKey(name, table) }), severity);
  }
}

function unknownKey(name: string, table: KeyTable): Problem {
  const hints = table.hints;
  const near = nearest(name, table.known);
  const hint =
    hints !== undefined && Object.hasOwn(hints, name)
      ? hints[name]
      : near === undefined
        ? `Known keys: ${table.known.join(", ")}.`
        : `Did you mean "${near}"?`;
  return { code: "unknown-key", message: `Unknown key in ${table.what}: "${name.slice(0, 80)}"`, hint };
}
