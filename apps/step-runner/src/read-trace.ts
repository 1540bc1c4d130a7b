import { readFileSync } from "node:fs";
import { decodeTrace } from "@steps/trace";
import { readStdin } from "./read-stdin.ts";

/** Reads a trace from a file, or from standard input for `-`. @throws {TraceError} */
export function readTrace(path: string): ReturnType<typeof decodeTrace> {
  return decodeTrace(readText(path));
}

/** The text of a file, or of standard input for `-`. */
export function readText(path: string): string {
  return path === "-" ? readStdin() : readFileSync(path, "utf8");
}
