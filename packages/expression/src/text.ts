import { type RuntimeValue, Sensitive } from "@steps/model";
import { formatNumber } from "@steps/model/value";
import { type Budget, spendNode, spendText } from "./budget.ts";
import { compareText } from "./compare.ts";

export interface MarkedText {
  readonly text: string;
  readonly isMarked: boolean;
}

interface Writer {
  readonly budget: Budget;
  readonly isSorted: boolean;
  readonly parts: string[];
  length: number;
  isMarked: boolean;
}

/**
 * The text of a value (conformance sections 6.7 and 20 C35), marked when any part of the value is.
 *
 * @param options.isSorted keys in order, as the old language wrote them
 * @param options.isJson a string is quoted too
 * @throws {ExpressionError} TEXT_TOO_LARGE, VALUE_TOO_DEEP, TOO_MUCH_EFFORT
 */
export function formatText(
  value: RuntimeValue,
  options: { budget: Budget; isSorted?: boolean; isJson?: boolean },
): MarkedText {
  const plain = value instanceof Sensitive ? value.value : value;
  if (typeof plain === "string" && options.isJson !== true) return { text: plain, isMarked: plain !== value };
  const { budget, isSorted = false } = options;
  const writer: Writer = { budget, isSorted, parts: [], length: 0, isMarked: false };
  write(writer, value, 0);
  return { text: writer.parts.join(""), isMarked: writer.isMarked };
}

function put(writer: Writer, text: string): void {
  writer.length += text.length;
  spendText(writer.budget, text.length, writer.length);
  writer.parts.push(text);
}

function write(writer: Writer, value: RuntimeValue, depth: number): void {
  spendNode(writer.budget, depth);
  if (value instanceof Sensitive) {
    writer.isMarked = true;
    write(writer, value.value, depth + 1);
  } else if (Array.isArray(value)) {
    put(writer, "[");
    for (let i = 0; i < value.length; i++) {
      if (i > 0) put(writer, ",");
      write(writer, value[i] as RuntimeValue, depth + 1);
    }
    put(writer, "]");
  } else if (typeof value === "object" && value !== null) {
    writeObject(writer, value, depth);
  } else if (typeof value === "number") {
    put(writer, formatNumber(value));
  } else {
    put(writer, JSON.stringify(value));
  }
}

function writeObject(writer: Writer, value: { [key: string]: RuntimeValue }, depth: number): void {
  const keys = writer.isSorted ? Object.keys(value).toSorted(compareText) : Object.keys(value);
  put(writer, "{");
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    put(writer, `${i > 0 ? "," : ""}${JSON.stringify(key)}:`);
    write(writer, value[key] as RuntimeValue, depth + 1);
  }
  put(writer, "}");
}
