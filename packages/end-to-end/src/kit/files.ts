import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** All files below a folder, with their content as bytes in Latin-1; a folder that is not there has none. */
export function readAll(dir: string): { readonly path: string; readonly content: string }[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, content: readFileSync(path, "latin1") }));
}

/** The content of a file, or undefined if there is none. */
export function readIfThere(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
