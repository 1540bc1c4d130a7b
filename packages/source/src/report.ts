import type { Diagnostic } from "@steps/model/diagnostic";
import { MAX_DIAGNOSTICS } from "./limits.ts";
import type { SourceCode } from "./source-rules.ts";
import { type Span, spanPosition } from "./span.ts";
import { textPlace } from "./text-place.ts";
import type { YamlNode } from "./yaml-node.ts";

/** A problem before it has a severity and a place. `Code` are the codes of a language, besides those that any text may have. */
export interface Finding<Code extends string = never> {
  readonly code: Code | SourceCode;
  /** Sentence case, no final period. */
  readonly message: string;
  /** A sentence that says what to write instead; absent when the message says it all. */
  readonly hint?: string | undefined;
  /** The part of a scalar's value that the finding is about, in UTF-16 units of the value; absent: all of it. */
  readonly part?: { readonly offset: number; readonly length: number } | undefined;
}

type Severity = Diagnostic["severity"];

/**
 * Gathers the diagnostics of one text, at most `MAX_DIAGNOSTICS` of each severity, so that a hostile text costs no more than a
 * large one. A finding that takes work to make may be given as a function, which is called only if there is room. `Code` are the
 * codes of a language, besides those that any text may have; `All` are all codes that `finish()` may give.
 */
export class Report<in Code extends string = never, out All extends string = string> {
  readonly #kept: Diagnostic[] = [];
  readonly #counts: Record<Severity, number> = { error: 0, warning: 0, note: 0 };

  /** Adds an error at a place; without a place it is about the text as a whole. */
  error(at: YamlNode | Span | undefined, finding: Finding<Code> | (() => Finding<Code>)): void {
    this.add("error", at, finding);
  }

  /** Adds a warning. */
  warn(at: YamlNode | Span | undefined, finding: Finding<Code> | (() => Finding<Code>)): void {
    this.add("warning", at, finding);
  }

  /** Adds a note. */
  note(at: YamlNode | Span | undefined, finding: Finding<Code> | (() => Finding<Code>)): void {
    this.add("note", at, finding);
  }

  /** Adds a finding of a severity that is known only when it is found. */
  add(severity: Severity, at: YamlNode | Span | undefined, finding: Finding<Code> | (() => Finding<Code>)): void {
    this.#counts[severity] += 1;
    if (this.#counts[severity] > MAX_DIAGNOSTICS) return;
    const { code, message, hint, part } = typeof finding === "function" ? finding() : finding;
    const span = at !== undefined && part !== undefined && "kind" in at ? textPlace(at, part.offset, part.length) : at;
    this.#kept.push({
      severity,
      code,
      message,
      position: span === undefined ? undefined : spanPosition(span),
      hint,
    });
  }

  /** Takes over the diagnostics of another reader, within the same limit. */
  include(diagnostics: readonly Diagnostic<Code | SourceCode>[]): void {
    for (const diagnostic of diagnostics) {
      this.#counts[diagnostic.severity] += 1;
      if (this.#counts[diagnostic.severity] <= MAX_DIAGNOSTICS) this.#kept.push(diagnostic);
    }
  }

  /** Whether one more of the severity would change the outcome; if not, it need not be looked for. */
  hasRoom(severity: Severity): boolean {
    return this.#counts[severity] <= MAX_DIAGNOSTICS;
  }

  /** Whether there were errors, kept or left out. */
  get hasErrors(): boolean {
    return this.#counts.error > 0;
  }

  /**
   * Returns the diagnostics in the order of the text, those without a place first. The last ones say of which
   * severities some were left out.
   */
  finish(): readonly Diagnostic<All>[] {
    const sorted = this.#kept.toSorted((a, b) => (a.position?.offset ?? -1) - (b.position?.offset ?? -1));
    for (const severity of ["error", "warning", "note"] as const) {
      if (this.#counts[severity] <= MAX_DIAGNOSTICS) continue;
      const message = `More problems of severity "${severity}" are not shown`;
      sorted.push({ severity, code: "too-many-problems", message });
    }
    // The compiler cannot see that only codes of `All` came in.
    return sorted as readonly unknown[] as readonly Diagnostic<All>[];
  }
}
