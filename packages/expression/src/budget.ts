import { ExpressionError } from "./error.ts";
import { limits } from "./limits.ts";

/** The effort that one evaluation may still spend. */
export interface Budget {
  left: number;
}

export function createBudget(): Budget {
  return { left: limits.maxEffort };
}

/** Pays for work: about one unit for each character read. @throws {ExpressionError} TOO_MUCH_EFFORT */
export function spend(budget: Budget, units: number): void {
  budget.left -= units;
  if (budget.left < 0) throw new ExpressionError("TOO_MUCH_EFFORT", "The expression takes too much time or memory");
}

const UNITS_PER_CHARACTER_WRITTEN = 4;
const UNITS_PER_NODE = 128;

/** Pays for a string that is made. @throws {ExpressionError} TEXT_TOO_LARGE, TOO_MUCH_EFFORT */
export function spendText(budget: Budget, written: number, whole: number = written): void {
  if (whole > limits.maxTextLength) {
    throw new ExpressionError("TEXT_TOO_LARGE", `The text is longer than ${limits.maxTextLength} characters`);
  }
  spend(budget, written * UNITS_PER_CHARACTER_WRITTEN);
}

/** Pays for a part of a value that is visited or made, and watches the depth. @throws {ExpressionError} */
export function spendNode(budget: Budget, depth: number): void {
  if (depth > limits.maxValueDepth) {
    throw new ExpressionError("VALUE_TOO_DEEP", `The value is nested more than ${limits.maxValueDepth} levels deep`);
  }
  spend(budget, UNITS_PER_NODE);
}
