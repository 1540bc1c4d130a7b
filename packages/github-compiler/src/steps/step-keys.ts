import type { ExpressionPlace } from "@steps/github-language";
import type { Reading } from "../reading/reading.ts";

/** The keys of a step whose expressions have a place of their own. */
type StepText = "if" | "name" | "run" | "env" | "with" | "working-directory" | "timeout-minutes" | "continue-on-error";

const COMMON: readonly string[] = ["name", "id", "if", "env", "continue-on-error"];

/** Returns the keys that steps of both kinds may have; those of a composite action have no time limit. */
export function commonKeys({ file }: Reading): readonly string[] {
  return file === "action" ? COMMON : [...COMMON, "timeout-minutes"];
}

/** Returns the place of a step's key in the table of contexts. */
export function stepPlace({ file }: Reading, key: StepText): ExpressionPlace {
  if (key === "timeout-minutes") return "step-timeout-minutes";
  return file === "action" ? `composite-step-${key}` : `step-${key}`;
}

/** The keys of steps with `run` only, and of steps with `uses` only. */
export const KIND_KEYS: Readonly<Record<"run" | "uses", readonly string[]>> = {
  run: ["run", "shell", "working-directory"],
  uses: ["uses", "with"],
};

/** Keys of steps that GitHub is trying out: leaving one out would run something else. */
export const FUTURE_KEYS: readonly string[] = ["background", "wait", "wait-all", "cancel", "parallel"];
