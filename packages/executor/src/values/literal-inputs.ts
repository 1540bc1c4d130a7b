import type { StepInvocation } from "@steps/model/definition";
import { formatValue } from "@steps/model/value";

/** The inputs of an invocation that hold no expression, as texts: what is known of them before it is their turn. */
export function literalInputs({ inputs }: StepInvocation): Record<string, string> {
  const texts = Object.entries(inputs).map(([name, value]) => [name, formatValue(value)] as const);
  return Object.fromEntries(texts.filter(([, text]) => !text.includes("${{")));
}
