import type { Value } from "@steps/model";
import { formatReference, type StepReference } from "@steps/model/reference";
import { formatValue } from "@steps/model/value";
import { stringify } from "yaml";
import type { ExplainedInput, ExplainedSecret } from "./describe-step.ts";

const SAMPLES: Readonly<Record<string, Value>> = { string: "TEXT", number: 1, boolean: true, struct: {}, array: [] };

/** An item of a list of steps that names the step, with what it requires. */
export function exampleItem({
  name,
  reference,
  inputs,
  secrets,
}: {
  readonly name: string;
  readonly reference: StepReference;
  readonly inputs: readonly ExplainedInput[];
  readonly secrets: readonly ExplainedSecret[];
}): string {
  const required = inputs.filter(({ isRequired }) => isRequired);
  const asked = secrets.filter(({ isRequired }) => isRequired);
  const item = {
    name: name.replaceAll(/[^a-zA-Z0-9_]+/g, "_").replace(/^(?=\d|$)/, "_"),
    [reference.kind === "action" ? "action" : "step"]: formatReference(reference),
    ...(required.length === 0
      ? {}
      : { inputs: Object.fromEntries(required.map((input) => [input.name, sampleOf(input)])) }),
    ...(asked.length === 0
      ? {}
      : { secrets: Object.fromEntries(asked.map((secret) => [secret.name, `\${{ vars.${secret.env} }}`])) }),
  };
  return stringify([item], { lineWidth: 0 });
}

/** A command line that runs the step, with what it requires. */
export function exampleCommand({
  reference,
  inputs,
}: {
  readonly reference: StepReference;
  readonly inputs: readonly ExplainedInput[];
}): string {
  const flags = inputs.flatMap((input) => (input.isRequired ? ["--inputs", argument(input)] : []));
  return ["step-runner", "run", quote(formatReference(reference)), ...flags].join(" ");
}

function sampleOf({ type, options, isSensitive, name }: ExplainedInput): Value {
  if (options?.[0] !== undefined) return options[0];
  if (isSensitive) return `\${{ vars.${name.toUpperCase()} }}`;
  return SAMPLES[type] ?? null;
}

// A secret value comes from a variable of the shell, so that no history keeps it.
function argument(input: ExplainedInput): string {
  if (input.isSensitive) return `"${input.name}=$${input.name.toUpperCase()}"`;
  return quote(`${input.name}=${formatValue(sampleOf(input))}`);
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
