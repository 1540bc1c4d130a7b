import type { StepControl } from "@steps/model/definition";

/** The ends of a job after which something is done, as GitLab writes them. */
export type When = "on_success" | "on_failure" | "always";

const CONDITIONS: Readonly<Record<When, string | undefined>> = {
  // Without a condition a step runs after success alone.
  on_success: undefined,
  on_failure: "${{ (failure() || cancelled()) && !timed_out() }}",
  always: "${{ always() && !timed_out() }}",
};

/** The control of a step that is run after those ends of the job; never when the time of the job is over, as in GitLab. */
export function controlOf(when: When): StepControl | undefined {
  const condition = CONDITIONS[when];
  return condition === undefined ? undefined : { condition };
}

/** `when` of a keyword: `on_success` unless it is another. */
export function whenOf(value: unknown): When {
  return value === "on_failure" || value === "always" ? value : "on_success";
}
