import { existsSync, statSync } from "node:fs";
import { UsageError } from "@steps/console";
import { filesBelow } from "../files/find-files.ts";

/**
 * The files of test cases, `NAME.test.yml`, that the arguments name: each itself, or of a folder all in it and below. Links to
 * folders are not followed. @throws {UsageError} when there are none, or too many
 */
export function findTests(named: readonly string[]): readonly string[] {
  const found = (named.length === 0 ? ["."] : named).flatMap((path) => {
    if (!existsSync(path)) throw new UsageError(`There is no file "${path}"`);
    return statSync(path).isDirectory() ? filesBelow(path, (file) => /\.test\.ya?ml$/.test(file)) : [path];
  });
  if (found.length === 0)
    throw new UsageError(
      `There is no test in ${named.length === 0 ? "this folder" : named.map((path) => `"${path}"`).join(", ")}`,
      "Tests are in files such as step.test.yml; step-runner init writes a step with one.",
    );
  return [...new Set(found)];
}
