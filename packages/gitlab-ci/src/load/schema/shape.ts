/** The form that the value of a keyword has. `null` is always taken: it is as if the keyword were absent. */
export type Shape =
  | { readonly is: "any" }
  | TextShape
  | { readonly is: "number"; readonly min: number; readonly max: number }
  | { readonly is: "boolean" }
  | { readonly is: "commands" }
  | { readonly is: "variables"; readonly scope: "global" | "job" }
  | ListShape
  | MappingShape
  | { readonly is: "map"; readonly of: Shape }
  | { readonly is: "either"; readonly of: readonly Shape[] };

/** A text. */
export interface TextShape {
  readonly is: "text";
  /** The texts that are taken; absent for any. */
  readonly values?: readonly string[];
  /** A text with a variable is taken besides `values`. */
  readonly takesVariables?: boolean;
}

/** A list. */
export interface ListShape {
  readonly is: "list";
  readonly of: Shape;
  /** Whether a list without any item is refused. */
  readonly isFilled?: boolean;
  /** The largest number of items; absent for any number. */
  readonly max?: number;
  /** Lists in the list are taken for their items, as a reference in a list leaves them. */
  readonly isNested?: boolean;
}

/** A mapping with known keys. */
export interface MappingShape {
  readonly is: "mapping";
  readonly keys: Readonly<Record<string, Shape>>;
  readonly required: readonly string[];
}

/** Anything at all. */
export const ANY: Shape = { is: "any" };

/** Any text. */
export const TEXT: Shape = { is: "text" };

/** `true` or `false`. */
export const BOOLEAN: Shape = { is: "boolean" };

/** A text or a list of texts for a shell, lists in lists included. */
export const COMMANDS: Shape = { is: "commands" };

/** A list of texts. */
export const TEXTS: Shape = { is: "list", of: TEXT };

/** A list of texts, in which lists of texts are taken for their items. */
export const NESTED_TEXTS: Shape = { is: "list", of: TEXT, isNested: true };

/** One of some texts. */
export function oneOf(...values: readonly string[]): Shape {
  return { is: "text", values };
}

/** One of some texts, or a text with a variable. */
export function oneOfOrVariable(...values: readonly string[]): Shape {
  return { is: "text", values, takesVariables: true };
}

/** A whole number. */
export function numberFrom(min: number, max: number): Shape {
  return { is: "number", min, max };
}

/** One of several shapes, of different kinds of nodes. */
export function either(...of: readonly Shape[]): Shape {
  return { is: "either", of };
}

/** A list. */
export function listOf(of: Shape, more: Omit<ListShape, "is" | "of"> = {}): Shape {
  return { is: "list", of, ...more };
}

/** A mapping of names that are the author's own. */
export function mapOf(of: Shape): Shape {
  return { is: "map", of };
}

/** A mapping with known keys, of which some must be there. */
export function mapping(keys: Readonly<Record<string, Shape>>, required: readonly string[] = []): MappingShape {
  return { is: "mapping", keys, required };
}
