import { defaultFunctions, type FunctionTable, parseTemplate } from "@steps/expression";
import { type RuntimeValue, Sensitive } from "@steps/model";
import type { StepControl } from "@steps/model/definition";
import type { Expander } from "../values/expander.ts";
import type { Progress } from "./list-language.ts";

const STATUS_FUNCTIONS: readonly string[] = ["success", "failure", "always", "cancelled"];

/** Tells whether a step may run after something failed. */
export function asksForStatus(control: StepControl | undefined): boolean {
  if (control?.condition === undefined) return false;
  try {
    return parseTemplate(control.condition).calls.some((name) => STATUS_FUNCTIONS.includes(name));
  } catch {
    // It will be evaluated, and the error told there.
    return true;
  }
}

/** The functions of a condition: those of every expression, and those that ask what went before. */
export function conditionFunctions({ hasFailed, isCancelled, isTimedOut }: Progress): FunctionTable {
  const answer = (value: boolean) => ({ minArgs: 0, maxArgs: 0, call: () => value });
  return {
    ...defaultFunctions,
    success: answer(!hasFailed && !isCancelled),
    failure: answer(hasFailed && !isCancelled),
    always: answer(true),
    cancelled: answer(isCancelled),
    timed_out: answer(isTimedOut),
  };
}

/**
 * Why a step of a list does not run; `undefined` if it does.
 *
 * @throws {ExecuteError} EXPRESSION_FAILED
 */
export function skipReason(
  control: StepControl | undefined,
  progress: Progress,
  expander: () => Expander,
  pointer: string,
): string | undefined {
  const condition = control?.condition;
  const needsSuccess = !progress.isFinally && !asksForStatus(control);
  if (needsSuccess && progress.isCancelled) return "the run was cancelled";
  if (needsSuccess && progress.hasFailed) return "a step before it failed";
  if (condition === undefined) return undefined;
  const value = expander().value(condition, { what: "if", pointer: `${pointer}/control/condition` });
  return holds(value) ? undefined : `if: ${shown(condition)} is false`;
}

// A condition that gives a text is judged as shells and GitLab's rules judge a text.
function holds(value: RuntimeValue): boolean {
  const plain = value instanceof Sensitive ? value.value : value;
  if (typeof plain === "string") return !["", "0", "false"].includes(plain.trim());
  return Boolean(plain) && !(Array.isArray(plain) && plain.length === 0);
}

function shown(condition: string): string {
  const text = /^\$\{\{ (.*) \}\}$/s.exec(condition)?.[1] ?? condition;
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
