import { Failure } from "./error.ts";
import { expressionLimits } from "./limits.ts";

/** The memory and the effort that one evaluation may still spend. */
export interface Budget {
  bytesLeft: number;
  effortLeft: number;
}

export function createBudget(): Budget {
  return { bytesLeft: expressionLimits.maxBytes, effortLeft: expressionLimits.maxEffort };
}

/** Pays for work: a unit for each character that is read. */
export function spendEffort(budget: Budget, units: number): void {
  budget.effortLeft -= units;
  if (budget.effortLeft < 0) throw new Failure("TOO_MUCH_EFFORT", "The expression takes too much time");
}

/** Pays for a part of a value that is made. */
export function spendBytes(budget: Budget, bytes: number): void {
  budget.bytesLeft -= bytes;
  if (budget.bytesLeft < 0) {
    const most = `${expressionLimits.maxBytes / 1024 / 1024} MiB`;
    throw new Failure("TOO_MUCH_MEMORY", `The expression makes values of more than ${most}`);
  }
}

/** Pays for a string that is made, before it is. */
export function spendText(budget: Budget, length: number): void {
  spendBytes(budget, 26 + length * 2);
}
