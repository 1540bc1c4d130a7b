import { compileAction } from "@steps/github-compiler";
import { encodeSpecDefinition } from "@steps/model/baseline";
import { assertDiagnostics } from "./check-compile.ts";
import { findMismatches } from "./find-mismatches.ts";
import { type Case, checkKeys, isRecord } from "./read-cases.ts";

/** Checks a case of kind `action`: the manifest of a GitHub action, and the baseline and the diagnostics it compiles to. */
export function checkAction({ data }: Case): void {
  checkKeys(data, ["manifest", "strict", "expect"], "action");
  const { manifest, strict = false, expect } = data;
  if (typeof manifest !== "string" || typeof strict !== "boolean" || !isRecord(expect)) {
    throw new Error("An action case has manifest and expect");
  }
  checkKeys(expect, ["baseline", "diagnostics"], "expect");
  const { specDefinition, diagnostics } = compileAction(
    { name: "action.yml", text: manifest },
    { advisesAuthor: strict },
  );
  assertDiagnostics(diagnostics, expect["diagnostics"] ?? []);
  const baseline = specDefinition && (JSON.parse(JSON.stringify(encodeSpecDefinition(specDefinition))) as unknown);
  const mismatches = findMismatches(expect["baseline"] ?? "$absent", baseline, "/baseline");
  if (mismatches.length > 0) throw new Error(mismatches.join("\n"));
}
