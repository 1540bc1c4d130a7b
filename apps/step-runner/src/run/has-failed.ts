import type { Outcome } from "@steps/model";

/** Whether a job ended otherwise than it should: a cancelled one is no failure, and neither is one that did not run. */
export function hasFailed({ status }: Outcome): boolean {
  return status !== "success" && status !== "cancelled" && status !== "skipped";
}
