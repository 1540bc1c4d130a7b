import { createObject, type RuntimeString, sensitive, type Value } from "@steps/model";
import { NAME_PATTERN } from "@steps/model/definition";
import { formatNumber } from "@steps/model/value";
import { ExecuteError } from "../outcome/execute-error.ts";
import { decodeText, parseOutputFile } from "./output-file.ts";

/**
 * The variables in a file that a step exported. Values are scalars: booleans become `true` and `false`, numbers plain
 * decimals (conformance section 4). @throws {ExecuteError} EXPORT_INVALID
 */
export function readExports(content: Uint8Array): Readonly<Record<string, RuntimeString>> {
  const { entries, problem } = parseOutputFile(content);
  if (problem) throw invalid(problem.line, problem.message);
  const exports = createObject<RuntimeString>();
  for (const entry of entries) {
    const { name, line } = entry;
    if (!NAME_PATTERN.test(name)) throw invalid(line, `${JSON.stringify(name.slice(0, 80))} is no name of a variable`);
    const text = entry.kind === "text" ? decodeText(entry.text) : textOf(entry.value);
    if (text === undefined) throw invalid(line, `export "${name}": cannot convert a list or an object to a string`);
    if (text.includes("\0")) throw invalid(line, `export "${name}": the value holds a NUL character`);
    const isMarked = entry.kind === "json" && entry.isSensitive === true;
    exports[name] = isMarked ? (sensitive(text) as RuntimeString) : text;
  }
  return exports;
}

function invalid(line: number, message: string): ExecuteError {
  return new ExecuteError("EXPORT_INVALID", `exports: line ${line}: ${message}`);
}

function textOf(value: Value): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  return typeof value === "number" ? plainDecimal(value) : undefined;
}

/** The shortest decimal that reads back to the same number, never with an exponent. */
export function plainDecimal(value: number): string {
  const text = formatNumber(value);
  const match = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (!match) return text;
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = match;
  const digits = whole + fraction;
  const point = whole.length + Number(exponent);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  return `${sign}${digits.padEnd(point, "0").slice(0, point)}${point < digits.length ? `.${digits.slice(point)}` : ""}`;
}
