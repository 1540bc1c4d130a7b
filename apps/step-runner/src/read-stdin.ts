import { readFileSync } from "node:fs";

/** All of standard input as text. */
export function readStdin(): string {
  return readFileSync(0, "utf8");
}
