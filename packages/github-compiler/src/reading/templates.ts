import type { YamlNode } from "@steps/source";
import {
  checkCondition,
  checkTemplate,
  CONTEXTS_OF,
  type ExpressionPlace,
  type ExpressionProblem,
} from "@steps/github-language";
import { isNull } from "./mapping.ts";
import type { Reading } from "./reading.ts";
import type { GithubCode } from "../action-rules.ts";
import { textOf } from "./texts.ts";

/** The name of a text for messages, and the place that decides which contexts and functions it may use. */
export interface TextPlace {
  readonly what: string;
  readonly at: ExpressionPlace;
}

/** The text of a scalar that may hold expressions; what is wrong with them is reported. */
export function templateOf(reading: Reading, node: YamlNode, { what, at }: TextPlace): string | undefined {
  const text = textOf(reading, node, what);
  if (text !== undefined) report(reading, node, checkTemplate(text, CONTEXTS_OF[at]));
  return text;
}

/** A condition; nothing at all is none. */
export function conditionOf(reading: Reading, node: YamlNode, { what, at }: TextPlace): string | undefined {
  const text = textOf(reading, node, what);
  if (text === undefined) return undefined;
  if (isNull(node) || text.trim() === "") {
    reading.report.warn(node, { code: "empty-condition", message: `${what} is empty and has no effect` });
    return undefined;
  }
  report(reading, node, checkCondition(text, CONTEXTS_OF[at]));
  return text;
}

function report(reading: Reading, node: YamlNode, problems: readonly ExpressionProblem[]): void {
  for (const problem of problems) {
    const { message, hint, offset, length } = problem;
    const code = CODES[problem.code] ?? "invalid-expression";
    // GitHub refuses a workflow for it; the manifest of an action is somebody else's, and what it reads is null.
    const isTolerated = code === "unavailable-context" && reading.file === "action";
    const severity = isTolerated ? "warning" : problem.severity;
    reading.report.add(severity, node, { code, message, hint, part: { offset, length } });
  }
}

const CODES: Readonly<Partial<Record<ExpressionProblem["code"], GithubCode | "invalid-expression">>> = {
  ALWAYS_TRUE: "constant-condition",
  NAME_NOT_AVAILABLE: "unavailable-context",
};
