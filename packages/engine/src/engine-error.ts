import type { CompilerDiagnostic } from "@steps/compiler";
import type { GithubDiagnostic } from "@steps/github-compiler";
import { StepsError } from "@steps/model";
import type { Diagnostic } from "@steps/model/diagnostic";

/** The codes of `EngineError`. They do not change; docs/reference/errors.md lists them. */
export type EngineErrorCode =
  | "COMPILE_FAILED"
  | "REFERENCE_INVALID"
  | "STEP_NOT_FOUND"
  | "STATE_UNSAFE"
  /** The state directory cannot be made or written to. */
  | "STATE_UNUSABLE"
  | "JOURNAL_NOT_FOUND"
  | "JOURNAL_IN_USE"
  | "JOURNAL_CHANGED"
  | "PIN_MISSING"
  | "PIN_MISMATCH"
  | "LOCK_INVALID"
  | "LOCK_MISMATCH"
  | "NOT_LOCKED"
  | "LOG_LEVEL_INVALID";

/** A diagnostic of a file that was loaded: a step file or the manifest of an action. */
export type LoadDiagnostic = Diagnostic<CompilerDiagnostic["code"] | GithubDiagnostic["code"]>;

/** An error that keeps a run from being put together. */
export class EngineError extends StepsError<EngineErrorCode> {}

/** A step's files do not compile. All that is wrong with them is in `diagnostics`. */
export class CompileError extends EngineError {
  readonly diagnostics: readonly LoadDiagnostic[];

  constructor(name: string, diagnostics: readonly LoadDiagnostic[]) {
    const errors = diagnostics.filter((diagnostic) => diagnostic.severity === "error");
    const first = errors[0]?.message ?? "unknown error";
    const more = errors.length > 1 ? ` and ${errors.length - 1} more` : "";
    super("COMPILE_FAILED", `Cannot compile "${name}": ${first}${more}`);
    this.diagnostics = diagnostics;
  }
}
