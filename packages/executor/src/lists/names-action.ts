import type { StepInvocation } from "@steps/model/definition";

/** Tells whether an item of a list, or one of a list within it, names an action. Only then the runner of actions is loaded. */
export function namesAction({ step }: StepInvocation): boolean {
  if (step.kind === "action") return true;
  if (step.kind !== "inline") return false;
  const { definition } = step.specDefinition;
  return definition.type === "steps" && [...definition.steps, ...(definition.finally ?? [])].some(namesAction);
}
