import { sensitive, type Value } from "@steps/model";
import type { InputSpec, Spec, StepInvocation } from "@steps/model/definition";
import { nearest } from "@steps/model/diagnostic";
import { kindOf } from "./coerce.ts";
import { matchProblem, optionProblem, typedValue } from "./inputs.ts";

/** Something about an invocation that its step will refuse. */
export interface CallProblem {
  readonly kind: "unknown-input" | "missing-input" | "input-mismatch" | "unknown-secret" | "missing-secret";
  readonly message: string;
  readonly hint?: string;
  /** The name of the input or secret. */
  readonly name: string;
}

/**
 * Compares the inputs and secrets of an invocation with the spec of the step it names, and returns the problems that can be
 * known before anything runs: a value with an expression in it may be anything.
 */
export async function findCallProblems(
  invocation: Pick<StepInvocation, "inputs" | "secrets">,
  spec: Spec,
): Promise<readonly CallProblem[]> {
  const { inputs, secrets = {} } = invocation;
  const found = await Promise.all(Object.entries(inputs).map(([name, value]) => problemOfInput(name, value, spec)));
  const problems = found.filter((problem) => problem !== undefined);
  const isOpen = Object.keys(inputs).some(holdsExpression);
  for (const [name, input] of Object.entries(spec.inputs)) {
    if (isOpen || input.default !== undefined || Object.hasOwn(inputs, name)) continue;
    problems.push({ kind: "missing-input", name, message: `The step requires the input "${name}"` });
  }
  return [...problems, ...problemsOfSecrets(secrets, spec)];
}

async function problemOfInput(name: string, value: Value, spec: Spec): Promise<CallProblem | undefined> {
  if (holdsExpression(name)) return undefined;
  const input = Object.hasOwn(spec.inputs, name) ? spec.inputs[name] : undefined;
  if (input === undefined)
    return unknown("unknown-input", `The step has no input "${shorten(name)}"`, { name, known: spec.inputs });
  const message = holdsExpression(value) ? undefined : await mismatch(name, value, input);
  return message === undefined ? undefined : { kind: "input-mismatch", name, message };
}

async function mismatch(name: string, value: Value, input: InputSpec): Promise<string | undefined> {
  const typed = typedValue(value, input);
  if (typed === undefined) return `The input "${name}" is declared as "${input.type}", found "${kindOf(value)}"`;
  const shown = input.isSensitive ? sensitive(typed) : typed;
  const problem = optionProblem(name, input, shown) ?? (await matchProblem(name, input, shown));
  return problem?.replace(/^i/, "I");
}

function problemsOfSecrets(granted: Readonly<Record<string, string>>, { secrets = {} }: Spec): CallProblem[] {
  const problems = Object.keys(granted)
    .filter((name) => !Object.hasOwn(secrets, name))
    .map((name) =>
      unknown("unknown-secret", `The step asks for no secret "${shorten(name)}"`, { name, known: secrets }),
    );
  for (const [name, { isRequired }] of Object.entries(secrets)) {
    if (!isRequired || Object.hasOwn(granted, name)) continue;
    problems.push({ kind: "missing-secret", name, message: `The step requires the secret "${name}"` });
  }
  return problems;
}

function unknown(
  kind: CallProblem["kind"],
  message: string,
  { name, known }: { readonly name: string; readonly known: Readonly<Record<string, unknown>> },
): CallProblem {
  const names = Object.keys(known);
  const near = nearest(name, names);
  const list = names.length === 0 ? "It takes none." : `It takes ${names.slice(0, 20).join(", ")}.`;
  return { kind, name, message, hint: near === undefined ? list : `Did you mean "${near}"?` };
}

function holdsExpression(value: Value): boolean {
  if (typeof value === "string") return value.includes("${{");
  if (value === null || typeof value !== "object") return false;
  if (Array.isArray(value)) return value.some(holdsExpression);
  return Object.entries(value).some(([key, member]) => holdsExpression(key) || holdsExpression(member));
}

function shorten(name: string): string {
  return name.slice(0, 80);
}
