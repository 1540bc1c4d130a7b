import { type Diagnostic, positionAt } from "@steps/model";
import type { CompilerCode, YamlNode } from "@steps/compiler";
import type { CiCode } from "./ci-rules.ts";

/** Diagnostics that are kept of one translation: a hostile file must not cost more than a large one. */
const MAX_DIAGNOSTICS = 200;

export interface Finding {
  readonly code: CiCode | CompilerCode;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** Gathers what is to be said about a file. */
export class Report {
  readonly #diagnostics: Diagnostic[] = [];
  #hasErrors = false;
  #left = 0;

  error(at: YamlNode | undefined, finding: Finding): void {
    this.#hasErrors = true;
    this.#add(at, "error", finding);
  }

  warn(at: YamlNode | undefined, finding: Finding): void {
    this.#add(at, "warning", finding);
  }

  /** Takes over what another reader found. */
  include(diagnostics: readonly Diagnostic[]): void {
    this.#hasErrors ||= diagnostics.some((diagnostic) => diagnostic.severity === "error");
    this.#diagnostics.push(...diagnostics);
  }

  get hasErrors(): boolean {
    return this.#hasErrors;
  }

  /** In the order of the file; what has no place comes first. */
  finish(): readonly Diagnostic[] {
    const sorted = this.#diagnostics.toSorted((a, b) => (a.position?.offset ?? -1) - (b.position?.offset ?? -1));
    if (this.#left > 0) {
      sorted.push({
        severity: this.#hasErrors ? "error" : "warning",
        code: "too-many-problems",
        message: `Left out ${this.#left} more problems`,
      });
    }
    return sorted;
  }

  #add(at: YamlNode | undefined, severity: Diagnostic["severity"], { code, message, hint }: Finding): void {
    if (this.#diagnostics.length >= MAX_DIAGNOSTICS) {
      this.#left += 1;
      return;
    }
    this.#diagnostics.push({
      severity,
      code,
      message,
      ...(at === undefined ? {} : { position: positionAt(at.source, at.offset, at.length) }),
      ...(hint === undefined ? {} : { hint }),
    });
  }
}
