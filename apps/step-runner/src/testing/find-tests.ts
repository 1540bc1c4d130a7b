import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { UsageError } from "@steps/console";

/** The greatest number of test files of one call. */
const MAX_FILES = 10_000;
const MAX_FOLDERS = 100_000;
const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules"]);

/**
 * The files of test cases, `NAME.test.yml`, that the arguments name: each itself, or of a folder all in it and below. Links to
 * folders are not followed. @throws {UsageError} when there are none, or too many
 */
export function findTests(named: readonly string[]): readonly string[] {
  const found = (named.length === 0 ? ["."] : named).flatMap((path) => {
    if (!existsSync(path)) throw new UsageError(`There is no file "${path}"`);
    return statSync(path).isDirectory() ? findInFolder(path) : [path];
  });
  if (found.length === 0)
    throw new UsageError(
      `There is no test in ${named.length === 0 ? "this folder" : named.map((path) => `"${path}"`).join(", ")}`,
      "Tests are in files such as step.test.yml; step-runner init writes a step with one.",
    );
  return [...new Set(found)];
}

function findInFolder(folder: string): readonly string[] {
  const found: string[] = [];
  const open = [folder];
  let folders = 0;
  for (let dir = open.pop(); dir !== undefined; dir = open.pop()) {
    folders += 1;
    const inner: string[] = [];
    for (const entry of readdirSync(dir, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(dir, entry.name);
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) inner.push(path);
      else if (!entry.isDirectory() && /\.test\.ya?ml$/.test(entry.name)) found.push(path);
    }
    open.push(...inner.toReversed());
    if (found.length > MAX_FILES || folders > MAX_FOLDERS) throw new UsageError(`"${folder}" holds too many files`);
  }
  return found;
}
