import { readFileSync } from "node:fs";
import { UsageError } from "@steps/console";
import type { Source } from "@steps/model/diagnostic";
import { decodeSource, decodeUtf8 } from "@steps/model/utf8";

/**
 * The text of a file, or of standard input for `-`.
 *
 * @throws {StepsError} TEXT_INVALID if it is not UTF-8
 * @throws {UsageError} if it is a folder
 */
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
  try {
    return readFileSync(path === "-" ? 0 : path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EISDIR") throw error;
    throw new UsageError(`"${nameOf(path)}" is a folder, and not a file`);
  }
}
