import type { CallProblem } from "@steps/executor";
import { escapePointer } from "@steps/model/value";

/** The place of a wrong call in the text that makes it: a pointer, and whether the key there is wrong or the value. */
export function placeOfProblem(
  { kind, name }: CallProblem,
  pointer: string,
): { readonly pointer: string; readonly part: "key" | undefined } {
  if (kind.startsWith("missing")) return { pointer: `${pointer}/step`, part: undefined };
  const group = kind.endsWith("secret") ? "secrets" : "inputs";
  const part = kind.startsWith("unknown") ? "key" : undefined;
  return { pointer: `${pointer}/${group}/${escapePointer(name)}`, part };
}
