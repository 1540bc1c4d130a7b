import { readFileSync } from "node:fs";
import type { Source } from "@steps/model/diagnostic";
import { decodeSource, decodeUtf8 } from "@steps/model/utf8";

/** The text of a file, or of standard input for `-`. @throws {StepsError} TEXT_INVALID if it is not UTF-8 */
export function readText(path: string): string {
  return decodeUtf8(nameOf(path), readBytes(path));
}

/** The same for a reader of sources, which says with a place what is wrong with it. */
export function readSource(path: string): Source {
  return decodeSource(nameOf(path), readBytes(path));
}

function nameOf(path: string): string {
  return path === "-" ? "<stdin>" : path;
}

function readBytes(path: string): Uint8Array {
  return readFileSync(path === "-" ? 0 : path);
}
