import { compileStepFile, COMPILER_RULES, type CompilerDiagnostic } from "@steps/compiler";
import type { CHECK_RULES } from "@steps/engine";
import type { CheckDiagnostic } from "@steps/engine/components";
import { GITHUB_RULES, type GithubDiagnostic } from "@steps/github-compiler";
import { CI_RULES, type CiDiagnostic } from "@steps/gitlab-ci";
import type { Diagnostic } from "@steps/model/diagnostic";
import { SOURCE_RULES } from "@steps/source";
import { expect, expectTypeOf, test } from "vitest";

const compilerRules = { ...SOURCE_RULES, ...COMPILER_RULES };
const githubRules = { ...SOURCE_RULES, ...GITHUB_RULES };
const ciRules = { ...compilerRules, ...CI_RULES };

test("a compiler's diagnostics have the codes of its tables and no other", () => {
  expectTypeOf<CompilerDiagnostic["code"]>().toEqualTypeOf<keyof typeof compilerRules>();
  expectTypeOf<GithubDiagnostic["code"]>().toEqualTypeOf<keyof typeof githubRules>();
  expectTypeOf<CiDiagnostic["code"]>().toEqualTypeOf<keyof typeof ciRules>();
  expectTypeOf<CheckDiagnostic["code"]>().toEqualTypeOf<keyof typeof CHECK_RULES>();
  const { diagnostics } = compileStepFile({ name: "step.yml", text: "{}\n---\nexec: {strange: [a]}\n" });
  expect(diagnostics.map(({ code }) => compilerRules[code].title)).toEqual(["A key is missing", "An unknown key"]);
});

test("a switch over the codes is complete without a default, and a code that does not exist is an error of types", () => {
  const [found] = compileStepFile({ name: "step.yml", text: "" }).diagnostics;
  expectTypeOf<"empty-text">().toExtend<CompilerDiagnostic["code"]>();
  expectTypeOf<"empty-txt">().not.toExtend<CompilerDiagnostic["code"]>();
  // A diagnostic of whatever origin is none of the compiler.
  expectTypeOf<Diagnostic>().not.toExtend<CompilerDiagnostic>();
  expect(adviceOn("unknown-output")).toBe("read another one");
  expect(found?.code).toBe("empty-text");
});

function adviceOn(code: CheckDiagnostic["code"]): string {
  switch (code) {
    case "action-input":
    case "input-mismatch":
    case "unknown-input":
    case "unknown-secret":
      return "give something else";
    case "missing-input":
    case "missing-secret":
      return "give it";
    case "unknown-output":
      return "read another one";
    case "not-locked":
    case "reference-cycle":
    case "step-unavailable":
    case "too-many-steps":
      return "name another step";
  }
}
