import assert from "node:assert/strict";
import { compileInput, compileStepFile, compileStepList } from "@steps/compiler";
import { encodeSpecDefinition } from "@steps/model/baseline";
import type { Diagnostic } from "@steps/model/diagnostic";
import { findMismatches } from "./find-mismatches.ts";
import { type Case, checkKeys, isRecord } from "./read-cases.ts";

const COMPILERS = { "step-file": compileStepFile, list: compileStepList, input: compileInput };

/** Checks a case of kind `compile`: a text, and the baseline and the diagnostics it compiles to. */
export function checkCompile({ data }: Case): void {
  checkKeys(data, ["as", "input", "expect"], "compile");
  const { as, input, expect } = data;
  const compile = COMPILERS[as as keyof typeof COMPILERS];
  if (typeof input !== "string" || !isRecord(expect)) throw new Error("A compile case has input and expect");
  checkKeys(expect, ["baseline", "diagnostics"], "expect");
  const { specDefinition, diagnostics } = compile({ name: "input.yml", text: input });
  assertDiagnostics(diagnostics, expect["diagnostics"] ?? []);
  const baseline = specDefinition && (JSON.parse(JSON.stringify(encodeSpecDefinition(specDefinition))) as unknown);
  assert.deepEqual(baseline, expect["baseline"]);
}

/** Compares diagnostics, all of them in their order, with what is expected of each. */
export function assertDiagnostics(diagnostics: readonly Diagnostic[], expected: unknown): void {
  const found = diagnostics.map(({ severity, code, position, message, hint }) => ({
    severity,
    code,
    message,
    hint,
    ...(position === undefined ? {} : { line: position.line, column: position.column }),
  }));
  const mismatches = findMismatches(expected, found, "/diagnostics");
  if (mismatches.length > 0) throw new Error(mismatches.join("\n"));
}
