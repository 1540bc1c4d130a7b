import type { Value } from "@steps/model";
import { type Budget, spendEffort } from "./budget.ts";
import { formatG15, parseNumber } from "./number.ts";

/** The result of a filter such as `a.*`: an array whose index applies to each of the items. */
export class FilteredArray {
  readonly items: readonly Value[];

  constructor(items: readonly Value[]) {
    this.items = items;
  }
}

/** A value while it is computed with. */
export type Data = Value | FilteredArray;

/** The items of an array, filtered or not; `undefined` for everything else. */
export function itemsOf(data: Data): readonly Value[] | undefined {
  if (Array.isArray(data)) return data;
  return data instanceof FilteredArray ? data.items : undefined;
}

export function isPrimitive(data: Data): data is null | boolean | number | string {
  return data === null || typeof data !== "object";
}

/** The text of any value: arrays and objects are only `Array` and `Object`. */
export function textOf(data: Data): string {
  if (typeof data === "string") return data;
  if (data === null) return "";
  if (typeof data === "boolean") return data ? "true" : "false";
  if (typeof data === "number") return formatG15(data);
  return itemsOf(data) === undefined ? "Object" : "Array";
}

export function numberOf(data: Data): number {
  if (typeof data === "number") return data;
  if (typeof data === "string") return parseNumber(data);
  if (data === null) return 0;
  return typeof data === "boolean" ? Number(data) : Number.NaN;
}

/** False are false, 0, NaN, the empty text and null. Every array and object is true. */
export function isTruthy(data: Data): boolean {
  return Boolean(data);
}

type Kind = "null" | "boolean" | "number" | "string" | "array" | "object";

function kindOf(data: Data): Kind {
  if (data === null) return "null";
  if (typeof data !== "object") return typeof data as Kind;
  return itemsOf(data) === undefined ? "object" : "array";
}

/** Loose equality: of one kind directly, strings without regard to case, otherwise both as numbers. */
export function areEqual(left: Data, right: Data, budget: Budget): boolean {
  if (typeof left === "string" && typeof right === "string") return equalTexts(left, right, budget);
  if (kindOf(left) === kindOf(right)) return left === right;
  if (!isPrimitive(left) || !isPrimitive(right)) return false;
  return toNumber(left, budget) === toNumber(right, budget);
}

export type Comparison = "<" | ">" | "<=" | ">=";

/** Compares two values by the rules of `areEqual`; `<=` means less or equal. */
export function compare(operator: Comparison, left: Data, right: Data, budget: Budget): boolean {
  if (operator.length === 2 && areEqual(left, right, budget)) return true;
  const [less, greater] = operator[0] === "<" ? [left, right] : [right, left];
  return isLess(less, greater, budget);
}

function isLess(left: Data, right: Data, budget: Budget): boolean {
  if (typeof left === "string" && typeof right === "string") {
    return foldCase(left, budget) < foldCase(right, budget);
  }
  if (!isPrimitive(left) || !isPrimitive(right)) return false;
  if (left === null && right === null) return false;
  return toNumber(left, budget) < toNumber(right, budget);
}

function toNumber(data: Data, budget: Budget): number {
  if (typeof data === "string") spendEffort(budget, data.length + 16);
  return numberOf(data);
}

// Folding never changes the length, so different lengths need no look.
function equalTexts(left: string, right: string, budget: Budget): boolean {
  if (left === right) return true;
  return left.length === right.length && foldCase(left, budget) === foldCase(right, budget);
}

/**
 * A text for comparisons that ignore case as .NET's ordinal ones do: each character by itself, one unit to one unit;
 * `ß` stays, and no other alphabet's letter becomes a Latin one of ASCII (`ı`, `ſ`).
 */
export function foldCase(text: string, budget: Budget): string {
  spendEffort(budget, text.length);
  const upper = text.toUpperCase();
  if (upper.length === text.length && !/[\u0131\u017f]/.test(text)) return upper;
  spendEffort(budget, text.length * 8);
  let folded = "";
  for (const character of text) folded += foldCharacter(character);
  return folded;
}

function foldCharacter(character: string): string {
  const upper = character.toUpperCase();
  const isOneToOne = upper.length === character.length && (upper > "\u007f" || character <= "\u007f");
  return isOneToOne ? upper : character;
}
