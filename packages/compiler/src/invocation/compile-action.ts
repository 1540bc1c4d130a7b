import { createObject, type Value } from "@steps/model";
import {
  type ActionReference,
  isReferenceProblem,
  parseActionReference,
  type StepReference,
} from "@steps/model/reference";
import { childOf, type YamlMapping, type YamlNode } from "@steps/source";
import { escapePointer } from "@steps/model/value";
import { checkTemplates } from "../texts/check-template.ts";
import { reportProblem } from "../reference/long/long-form.ts";
import { asMapping, asString, asValue, type CompileContext } from "../context.ts";

/** Reads the action that `action:` or `uses:` names. */
export function readAction(
  context: CompileContext,
  item: YamlMapping,
  { key, pointer }: { readonly key: "action" | "uses"; readonly pointer: string },
): ActionReference | undefined {
  const node = childOf(item, key) as YamlNode;
  context.places.set(`${pointer}/step`, node);
  const text = asString(context, node, key);
  if (text === undefined) return undefined;
  const parsed = parseActionReference(text);
  if (!isReferenceProblem(parsed)) return parsed;
  reportProblem(context, node, parsed);
  return undefined;
}

/** The values for an action: its names are GitHub's, which may hold hyphens and blanks. */
export function readActionInputs(context: CompileContext, item: YamlMapping, pointer: string): Record<string, Value> {
  const inputs = createObject<Value>();
  const [first, second] = ["inputs", "with"].flatMap((key) => item.entries.get(key) ?? []);
  if (second !== undefined) {
    context.report.error(second.key, {
      code: "conflicting-keys",
      message: "A step can have only one of inputs, with",
      hint: "with is GitHub's word for inputs; keep one.",
    });
  }
  const node = first?.value;
  if (node === undefined || (node.kind === "scalar" && node.value === null)) return inputs;
  const mapping = asMapping(context, node, "inputs");
  if (mapping === undefined) return inputs;
  context.places.set(`${pointer}/inputs`, mapping);
  for (const [name, { value }] of mapping.entries) {
    context.places.set(`${pointer}/inputs/${escapePointer(name)}`, value);
    checkTemplates(context, value);
    inputs[name] = asValue(context, value);
  }
  return inputs;
}

const UPSTREAM = /^https:\/\/gitlab\.com\/components\/action-runner(?:\.git)?\/?$/i;

/**
 * The action behind GitLab's own form of it: a step in the repository `components/action-runner` with the inputs `action` and
 * `inputs`, to which its step runner compiles `action:`.
 */
export function readUpstreamAction(
  reference: StepReference,
  inputs: Readonly<Record<string, Value>>,
): { readonly step: ActionReference; readonly inputs: Record<string, Value> } | undefined {
  if (reference.kind !== "git" || !UPSTREAM.test(reference.url)) return undefined;
  const { action, inputs: given = {}, ...others } = inputs;
  if (typeof action !== "string" || Object.keys(others).length > 0) return undefined;
  const step = parseActionReference(action);
  const isMapping = typeof given === "object" && given !== null && !Array.isArray(given);
  return isReferenceProblem(step) || !isMapping ? undefined : { step, inputs: { ...(given as Record<string, Value>) } };
}
