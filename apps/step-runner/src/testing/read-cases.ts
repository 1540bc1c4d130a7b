import { errors } from "@steps/console/terminal";
import { formatDiagnostic, hasErrors } from "@steps/model/diagnostic";
import { readSource } from "../files/read-source.ts";
import { findTests } from "./find-tests.ts";
import { readTestFile } from "./read-test-file.ts";
import type { TestCase } from "./test-case.ts";

/** The cases of all files that the arguments name; `undefined` if a file is wrong, which has been said. @throws {UsageError} */
export function readCases(named: readonly string[]): readonly TestCase[] | undefined {
  const files = findTests(named).map((path) => readTestFile(readSource(path)));
  const diagnostics = files.flatMap((file) => file.diagnostics);
  for (const diagnostic of diagnostics) void errors.writeLines(`${formatDiagnostic(diagnostic)}\n`);
  return hasErrors(diagnostics) ? undefined : files.flatMap(({ cases }) => cases);
}
