import { isStepsError } from "@steps/model";

/**
 * A fault as the operator may read it: where it happened, and its text where that is known to hold nothing of a request
 * (our own errors and those of the operating system).
 */
export function describeFault(error: unknown): string {
  if (!(error instanceof Error)) return `a ${typeof error} was thrown`;
  const { code } = error as NodeJS.ErrnoException;
  const isQuotable = isStepsError(error) || (typeof code === "string" && /^E[A-Z0-9]+$/.test(code));
  const head = isQuotable ? `${error.name}: ${error.message}` : error.name;
  const frames = (error.stack ?? "").split("\n").filter((row) => /^\s+at /.test(row));
  return [head, ...frames.slice(0, 12)].join("\n");
}
