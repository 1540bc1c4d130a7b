import type { Value } from "@steps/model";
import { type BuiltinPlace, type Inputs, invalid, type Outputs } from "../images/builtin-images.ts";

/** The result of a step of the library. */
export interface GitlabResult {
  readonly outputs: Outputs;
  /** Variables for all later steps of the job. */
  readonly exports?: Readonly<Record<string, Exported>>;
}

/** The value of an exported variable. */
export interface Exported {
  readonly value: string;
  readonly isSensitive: boolean;
}

/** A program of the library: it does what the step is for. @throws {BuiltinError} BUILTIN_FAILED @throws {StepsError} */
export type GitlabProgram = (inputs: Inputs, place: BuiltinPlace) => Promise<GitlabResult>;

/** Says something that the user should look at. */
export function warn(place: BuiltinPlace, line: string): void {
  place.log(`WARNING: ${line}`);
}

/** A text that may be empty. @throws {BuiltinError} BUILTIN_FAILED */
export function optionalText(inputs: Inputs, name: string): string {
  const value = inputs[name] ?? "";
  if (typeof value === "string") return value;
  throw invalid(`${name} must be a string`);
}

/** A list of strings; numbers and booleans become those. @throws {BuiltinError} BUILTIN_FAILED */
export function stringList(value: Value, what: string): string[] {
  if (!Array.isArray(value)) throw invalid(`${what} must be a list`);
  return value.map((item: Value) => {
    if (typeof item === "object" && item !== null) throw invalid(`${what} must have strings only`);
    return String(item);
  });
}

/** A list of objects. @throws {BuiltinError} BUILTIN_FAILED */
export function objectList(value: Value, what: string): Readonly<Record<string, Value>>[] {
  if (!Array.isArray(value)) throw invalid(`${what} must be a list`);
  return value.map((item: Value, index) => objectOf(item, `${what}[${index}]`));
}

/** An object. @throws {BuiltinError} BUILTIN_FAILED */
export function objectOf(value: Value, what: string): Readonly<Record<string, Value>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw invalid(`${what} must be an object`);
}

/** A number of bytes, as a person reads it: `1.2 KiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} ${bytes === 1 ? "byte" : "bytes"}`;
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), 4);
  return `${(bytes / 1024 ** power).toFixed(1)} ${["KiB", "MiB", "GiB", "TiB"][power - 1] ?? ""}`;
}

/** `1 file or folder`, `3 files and folders`. */
export function countFiles(count: number): string {
  return count === 1 ? "1 file or folder" : `${count} files and folders`;
}
