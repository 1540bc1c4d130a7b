import { isUtf8 } from "node:buffer";
import type { Value } from "@steps/model";
import { NAME_PATTERN } from "@steps/model/definition";
import { findMalformed } from "@steps/model/utf8";
import { importValue, parseJson } from "../values/json-value.ts";

/** The longest line of an output or export file. */
const MAX_LINE_BYTES: number = 16 * 1024 * 1024;

/** The most outputs or exports that one file may hold: a trace has them all, and so has the memory. */
export const MAX_ENTRIES: number = 100_000;

/** One line of an output or export file. */
export type OutputEntry =
  /** `{"name": …, "value": …}` */
  | {
      readonly kind: "json";
      readonly line: number;
      readonly name: string;
      readonly value: Value;
      /** `"sensitive": true` is beside it. */
      readonly isSensitive?: true;
    }
  /** `NAME=TEXT` */
  | { readonly kind: "text"; readonly line: number; readonly name: string; readonly text: string };

/** A line that is no output. */
interface OutputFileProblem {
  /** From 1. */
  readonly line: number;
  /** Does not quote the line, which may hold a secret. */
  readonly message: string;
}

export interface ParsedOutputFile {
  readonly entries: readonly OutputEntry[];
  /** The first of them; reading stops there. */
  readonly problem?: OutputFileProblem;
}

/**
 * Reads what a step wrote to its output or export file. Each line speaks for itself: `{` first makes it a JSON object
 * with `name` and `value`, otherwise it is `NAME=TEXT`; empty lines are skipped (conformance section 20 C9).
 */
export function parseOutputFile(content: Uint8Array, maxLineBytes: number = MAX_LINE_BYTES): ParsedOutputFile {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const entries: OutputEntry[] = [];
  let line = 0;
  for (let start = 0; start < bytes.byteLength;) {
    line += 1;
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.byteLength : newline;
    if (end - start > maxLineBytes) {
      const mebibytes = Math.floor(maxLineBytes / (1024 * 1024));
      return { entries, problem: { line, message: `the line is longer than ${mebibytes} MiB` } };
    }
    const entry = parseLine(bytes.subarray(start, end), line);
    if (typeof entry === "string") return { entries, problem: { line, message: entry } };
    if (entry && entries.length === MAX_ENTRIES) {
      return {
        entries,
        problem: { line, message: `the file holds more than ${MAX_ENTRIES} values; put them into one list or object` },
      };
    }
    if (entry) entries.push(entry);
    start = end + 1;
  }
  return { entries };
}

function parseLine(bytes: Buffer, line: number): OutputEntry | string | undefined {
  if (!isUtf8(bytes)) return `the line is not UTF-8: its byte ${findMalformed(bytes)?.byte ?? 0} begins no character`;
  const text = bytes
    .toString("utf8")
    .replace(/^\uFEFF/, "")
    .replace(/\r$/, "")
    .replace(/^[ \t]+/, "");
  if (text.trim() === "") return undefined;
  if (text.startsWith("{")) return parseJsonLine(text, line);
  const equals = text.indexOf("=");
  const name = text.slice(0, Math.max(0, equals)).trimEnd();
  if (!NAME_PATTERN.test(name)) return 'the line is neither a JSON object with "name" and "value" nor NAME=VALUE';
  return { kind: "text", line, name, text: text.slice(equals + 1) };
}

function parseJsonLine(text: string, line: number): OutputEntry | string {
  const parsed = parseJson(text);
  if (parsed === undefined) return "the line is not valid JSON";
  const object = parsed.json as { readonly name?: unknown; readonly value?: unknown; readonly sensitive?: unknown };
  if (!Object.hasOwn(object, "name")) return '"name" is missing';
  const { name } = object;
  if (name === null) return '"name" is null';
  if (typeof name !== "string") return '"name" is not a string';
  if (name === "") return '"name" is empty';
  if (!Object.hasOwn(object, "value")) return '"value" is missing';
  if (object.value === null) return '"value" is null';
  const value = importValue(object.value);
  if (value === undefined) return '"value" is nested too deep or holds a number out of range';
  const mark = object.sensitive === true ? ({ isSensitive: true } as const) : {};
  return { kind: "json", line, name: name.toWellFormed(), value, ...mark };
}

/** Returns the string of a `NAME=TEXT` line: the string that JSON reads, or the text as it stands. */
export function decodeText(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith('"')) return text;
  const parsed = parseJson(trimmed);
  return parsed !== undefined && typeof parsed.json === "string" ? parsed.json.toWellFormed() : text;
}
