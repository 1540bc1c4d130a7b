import { readFileSync } from "node:fs";
import { UsageError } from "@steps/console";
import { NAME_PATTERN } from "@steps/model/definition";

/** Reads a file of lines `NAME=VALUE`. Empty lines and those that begin with `#` are left out. @throws {UsageError} */
export function readVariablesFile(path: string | undefined): Readonly<Record<string, string>> {
  if (path === undefined) return {};
  const pairs = read(path)
    .split(/\r?\n/)
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => line.trim() !== "" && !line.startsWith("#"));
  return Object.fromEntries(
    pairs.map(({ line, number }) => {
      const at = line.indexOf("=");
      const name = line.slice(0, Math.max(at, 0)).trim();
      if (at < 1 || !NAME_PATTERN.test(name)) {
        throw new UsageError(`${path}:${number} is no NAME=VALUE`, "A name has letters, digits and underscores.");
      }
      return [name, line.slice(at + 1)];
    }),
  );
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`Cannot read ${path}: ${(error as Error).message}`);
  }
}
