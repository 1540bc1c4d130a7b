import { childOf, type YamlMapping, type YamlNode } from "@steps/source";
import { entriesOf } from "../reading/mapping.ts";
import type { Reading } from "../reading/reading.ts";
import { scalarText } from "../reading/texts.ts";
import { eventsOf } from "../workflow/workflow-inputs.ts";

/** Says what a workflow takes from a job that calls it: `on.workflow_call`. */
export interface CallableWorkflow {
  readonly inputs: readonly DeclaredName[];
  readonly secrets: readonly DeclaredName[];
}

/** The name of an input or secret. */
export interface DeclaredName {
  readonly name: string;
  /** Whether a caller has to give it. */
  readonly isRequired: boolean;
}

/** Reads what a workflow takes from its callers. `undefined`: it cannot be called. */
export function readCallable(reading: Reading, root: YamlMapping): CallableWorkflow | undefined {
  if (!eventsOf(root).includes("workflow_call")) return undefined;
  const call = childOf(childOf(root, "on"), "workflow_call");
  return { inputs: readNames(reading, call, "inputs"), secrets: readNames(reading, call, "secrets") };
}

function readNames(reading: Reading, call: YamlNode | undefined, key: "inputs" | "secrets"): readonly DeclaredName[] {
  const node = childOf(call, key);
  return entriesOf(reading, node, `"${key}" of workflow_call`).map(([name, { value }]) => {
    const required = childOf(value, "required");
    const isRequired = required?.kind === "scalar" && scalarText(required) === "true";
    return { name, isRequired: isRequired && childOf(value, "default") === undefined };
  });
}
