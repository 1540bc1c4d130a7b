import type { Value } from "@steps/model";
import type { Position } from "@steps/model/diagnostic";

/** A case of a test file: a call of a step, and what is expected of it. */
export interface TestCase {
  readonly name: string;
  /** The file as it was named. */
  readonly file: string;
  /** The folder of the file: absolute. */
  readonly folder: string;
  readonly position: Position | undefined;
  /** The step as an item of a list names it: a text or a mapping. */
  readonly step: Value;
  readonly inputs: Value;
  readonly env: Value;
  readonly vars: Readonly<Record<string, string>>;
  readonly secrets: Readonly<Record<string, string>>;
  /** The files that are in the folder of the step before it runs, by their paths in it. */
  readonly files: Readonly<Record<string, string>>;
  readonly expect: Expectations;
}

/** Everything that a case expects. A part that is absent is not looked at, but for the exit code. */
export interface Expectations {
  readonly exit: number;
  readonly outputs: Readonly<Record<string, Value>>;
  readonly exports: Readonly<Record<string, Value>>;
  /** By path: the whole text, texts that it holds, or `null` for a file that is not there. */
  readonly files: Readonly<Record<string, string | readonly string[] | null>>;
  /** Texts that stand in what the step prints, or in the message of its failure. */
  readonly messages: readonly string[];
}

/** A difference between what is expected and what happened. */
export interface Difference {
  /** `exit`, `outputs.line`, `files.a.txt`, `messages`. */
  readonly what: string;
  readonly expected: string;
  readonly actual: string;
}

/** The end of a case. */
export interface CaseResult {
  readonly case: TestCase;
  readonly differences: readonly Difference[];
  readonly durationMs: number;
  /** All that the step printed, masked. */
  readonly output: string;
  /** Whether the case did not run to its end because the command was asked to stop. */
  readonly isCancelled: boolean;
}
