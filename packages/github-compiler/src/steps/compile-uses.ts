import { createObject } from "@steps/model";
import type { StepInvocation } from "@steps/model/definition";
import { isReferenceProblem, parseActionReference } from "@steps/model/reference";
import { readTexts } from "../reading/read-texts.ts";
import { placeAt, type Reading } from "../reading/reading.ts";
import { literalOf } from "../reading/texts.ts";
import type { RawStep } from "./compile-steps.ts";
import { stepPlace } from "./step-keys.ts";

/** A step with `uses`. */
export function compileUses(reading: Reading, step: RawStep): Pick<StepInvocation, "step" | "inputs"> | undefined {
  const { index, keys } = step;
  const node = keys.get("uses")?.value;
  const withNode = keys.get("with")?.value;
  const inputs = readTexts(reading, withNode, {
    what: `"with" of step ${index + 1}`,
    at: stepPlace(reading, "with"),
    pointer: ["definition", "steps", index, "inputs"],
  });
  if (node === undefined) return undefined;
  placeAt(reading, ["definition", "steps", index, "step"], node);
  const text = literalOf(reading, node, `"uses" of step ${index + 1}`);
  if (text === undefined) return undefined;
  const reference = parseActionReference(text);
  if (isReferenceProblem(reference)) {
    reading.report.error(node, { code: "invalid-reference", message: reference.message, hint: reference.hint });
    return undefined;
  }
  return { step: reference, inputs: withNode === undefined ? createObject() : inputs };
}
