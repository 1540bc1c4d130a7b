import { decodeTrace } from "@steps/trace";
import { readText } from "./read-source.ts";

/** Reads a trace from a file, or from standard input for `-`. @throws {TraceError} */
export function readTrace(path: string): ReturnType<typeof decodeTrace> {
  return decodeTrace(readText(path));
}
