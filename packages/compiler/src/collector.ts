import type { Diagnostic } from "@steps/model";
import type { CompilerCode } from "./diagnostic-rules.ts";
import { MAX_DIAGNOSTICS } from "./limits.ts";
import { type Span, spanPosition } from "./span.ts";
import { textPlace } from "./text-place.ts";
import type { YamlNode } from "./yaml-node.ts";

export interface Problem {
  /** Without it: an error. */
  readonly severity?: Diagnostic["severity"];
  readonly code: CompilerCode;
  readonly message: string;
  readonly hint?: string | undefined;
  /** What part of a scalar's value it is about, in UTF-16 units of the value. */
  readonly part?: { readonly offset: number; readonly length: number };
}

/** Gathers diagnostics, at most `MAX_DIAGNOSTICS` of each severity, so that a hostile text costs no more than a large one. */
export class Collector {
  readonly #kept: Diagnostic[] = [];
  readonly #counts: Record<Diagnostic["severity"], number> = { error: 0, warning: 0, note: 0 };

  /** Adds a problem. It may be given as a function, which is called only if there is room. */
  report(at: YamlNode | Span, problem: Problem | (() => Problem), severity: Diagnostic["severity"] = "error"): void {
    if (typeof problem === "function") {
      if (this.#counts[severity] < MAX_DIAGNOSTICS) this.report(at, problem(), severity);
      else this.#counts[severity] += 1;
      return;
    }
    const level = problem.severity ?? severity;
    this.#counts[level] += 1;
    if (this.#counts[level] > MAX_DIAGNOSTICS) return;
    const { code, message, hint, part } = problem;
    const span = part === undefined || !("kind" in at) ? at : textPlace(at, part.offset, part.length);
    this.#kept.push({
      severity: level,
      code,
      message,
      position: spanPosition(span),
      ...(hint === undefined ? {} : { hint }),
    });
  }

  add(diagnostics: readonly Diagnostic[]): void {
    for (const diagnostic of diagnostics) {
      this.#counts[diagnostic.severity] += 1;
      if (this.#counts[diagnostic.severity] <= MAX_DIAGNOSTICS) this.#kept.push(diagnostic);
    }
  }

  /** Whether one more of the severity would change the outcome; if not, it need not be looked for. */
  hasRoom(severity: Diagnostic["severity"]): boolean {
    return this.#counts[severity] <= MAX_DIAGNOSTICS;
  }

  get hasErrors(): boolean {
    return this.#counts.error > 0;
  }

  /** What was gathered, in the order of the text; the last one says whether some were left out. */
  finish(): readonly Diagnostic[] {
    const sorted = this.#kept.toSorted((a, b) => (a.position?.offset ?? -1) - (b.position?.offset ?? -1));
    for (const severity of ["error", "warning", "note"] as const) {
      if (this.#counts[severity] > MAX_DIAGNOSTICS) {
        sorted.push({
          severity,
          code: "too-many-problems",
          message: `More problems of severity "${severity}" are not shown`,
        });
      }
    }
    return sorted;
  }
}
