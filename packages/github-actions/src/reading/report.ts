import { type CompilerCode, textPlace, type YamlNode } from "@steps/compiler";
import { type Diagnostic, type Position, positionAt } from "@steps/model";
import type { GithubCode } from "../action-rules.ts";

/** Diagnostics of each severity that are kept: a hostile file must not cost more than a large one. */
const MAX_DIAGNOSTICS = 100;

export interface Finding {
  readonly code: GithubCode | CompilerCode;
  readonly message: string;
  readonly hint?: string | undefined;
  /** The part of a scalar's value that it is about, in UTF-16 units. */
  readonly part?: { readonly offset: number; readonly length: number } | undefined;
}

type Severity = Diagnostic["severity"];

/** Gathers what is to be said about a file. */
export class Report {
  readonly #kept: Diagnostic[] = [];
  readonly #counts: Record<Severity, number> = { error: 0, warning: 0, note: 0 };

  error(at: YamlNode | undefined, finding: Finding): void {
    this.add("error", at, finding);
  }

  warn(at: YamlNode | undefined, finding: Finding): void {
    this.add("warning", at, finding);
  }

  note(at: YamlNode | undefined, finding: Finding): void {
    this.add("note", at, finding);
  }

  /** A finding that takes work to make may be given as a function, which is called only if there is room. */
  add(severity: Severity, at: YamlNode | undefined, finding: Finding | (() => Finding)): void {
    this.#counts[severity] += 1;
    if (this.#counts[severity] > MAX_DIAGNOSTICS) return;
    const { code, message, hint, part } = typeof finding === "function" ? finding() : finding;
    this.#kept.push({
      severity,
      code,
      message,
      ...(at === undefined ? {} : { position: placeOf(at, part) }),
      ...(hint === undefined ? {} : { hint }),
    });
  }

  /** Takes over what another reader found. */
  include(diagnostics: readonly Diagnostic[]): void {
    for (const diagnostic of diagnostics) {
      this.#counts[diagnostic.severity] += 1;
      this.#kept.push(diagnostic);
    }
  }

  get hasErrors(): boolean {
    return this.#counts.error > 0;
  }

  /** In the order of the file; what has no place comes first. */
  finish(): readonly Diagnostic[] {
    const sorted = this.#kept.toSorted((a, b) => (a.position?.offset ?? -1) - (b.position?.offset ?? -1));
    for (const severity of ["error", "warning", "note"] as const) {
      if (this.#counts[severity] <= MAX_DIAGNOSTICS) continue;
      const message = `More problems of severity "${severity}" are not shown`;
      sorted.push({ severity, code: "too-many-problems", message });
    }
    return sorted;
  }
}

function placeOf(node: YamlNode, part: Finding["part"]): Position {
  const { source, offset, length } = part === undefined ? node : textPlace(node, part.offset, part.length);
  return positionAt(source, offset, length);
}
