import type { GithubPart, Spec } from "@steps/model/definition";
import { nearest } from "@steps/model/diagnostic";

/** An oddity in the inputs that an action is given. It is noted, and the action runs. */
export interface ActionProblem {
  readonly message: string;
  readonly hint?: string;
  /** The name of the input as the caller wrote it; absent for an input that is not given. */
  readonly name?: string;
}

/** Inputs of every Docker action, whatever its manifest says. */
const DOCKER_INPUTS: readonly string[] = ["entrypoint", "args"];

/** Compares the names that a caller gives with what the manifest says. Names are compared without their case. */
export function findActionProblems(
  given: readonly string[],
  spec: Spec,
  part: GithubPart = { using: "" },
): ActionProblem[] {
  const problems: ActionProblem[] = [];
  const names = new Map(Object.keys(spec.inputs).map((name) => [name.toLowerCase(), name]));
  const seen = new Set(given.map((name) => name.toLowerCase()));
  for (const name of given) {
    const declared = names.get(name.toLowerCase());
    const isKnown = declared !== undefined || (part.using === "docker" && DOCKER_INPUTS.includes(name.toLowerCase()));
    if (!isKnown)
      problems.push({ message: `The action has no input "${name}"`, name, ...hintOf(name, [...names.values()]) });
    const deprecation = declared === undefined ? undefined : part.deprecatedInputs?.[declared];
    if (deprecation !== undefined)
      problems.push({ message: `The input "${name}" is deprecated: ${deprecation}`, name });
  }
  for (const name of part.requiredInputs ?? []) {
    if (seen.has(name.toLowerCase()) || spec.inputs[name]?.default !== undefined) continue;
    problems.push({ message: `The action says that its input "${name}" is required, and it is not given` });
  }
  return problems;
}

function hintOf(name: string, declared: readonly string[]): { readonly hint?: string } {
  const near = nearest(name, declared);
  return near === undefined ? {} : { hint: `Did you mean "${near}"?` };
}
