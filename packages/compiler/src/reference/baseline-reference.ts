import { isStepsError } from "@steps/model";
import { decodeReference } from "@steps/model/baseline";
import type { ReferenceProblem, StepReference } from "@steps/model/reference";
import { isNamed, kindOf, protocolOf } from "@steps/model/kinds";
import { childOf, type YamlMapping, type YamlNode } from "@steps/source";
import type { InlineSpec } from "./inline-spec.ts";
import { checkTemplateNode } from "../texts/check-template.ts";
import { reportProblem } from "./long/long-form.ts";
import { asString, checkKeys, type CompileContext, wrongType } from "../context.ts";

const TEXTS = ["url", "filename", "version", "sha256", "registry", "repository", "tag"];
const KNOWN = [...TEXTS, "protocol", "path", "paths", "pathExp", "path_exp", "specDef", "spec_def"];

interface Options {
  readonly pointer: string;
  readonly readInline: (context: CompileContext, node: YamlNode, pointer: string) => InlineSpec | undefined;
}

/** A reference as the baseline has it: a mapping with `protocol`. */
export function readBaselineReference(
  context: CompileContext,
  node: YamlMapping,
  { pointer, readInline }: Options,
): StepReference | undefined {
  checkKeys(context, node, { what: "a baseline reference", known: KNOWN });
  const protocol = readProtocol(node);
  if (protocol === "spec_def") {
    const specDef = childOf(node, "specDef") ?? childOf(node, "spec_def");
    if (specDef === undefined) {
      context.report.error(node, { code: "missing-key", message: "The reference has no specDef" });
      return undefined;
    }
    const inline = readInline(context, specDef, `${pointer}/specDef`);
    if (inline === undefined) return undefined;
    return { kind: "inline", specDefinition: inline.specDefinition, seesCallerInputs: !inline.hasSpec };
  }
  return decode(context, node, protocol);
}

function readProtocol(node: YamlMapping): string {
  const protocol = childOf(node, "protocol");
  if (protocol?.kind !== "scalar") return "";
  return typeof protocol.value === "number" ? (protocolOf(protocol.value) ?? "") : protocol.text;
}

function decode(context: CompileContext, node: YamlMapping, protocol: string): StepReference | undefined {
  const expression = childOf(node, "pathExp") ?? childOf(node, "path_exp");
  const parts = childOf(childOf(node, "paths"), "parts") ?? childOf(node, "path");
  const texts = TEXTS.map((key) => [key, childOf(node, key)] as const);
  const json: Record<string, unknown> = { protocol };
  for (const [key, child] of [...texts, ["pathExp", expression] as const]) {
    if (child !== undefined) json[key] = asString(context, child, key);
  }
  if (parts !== undefined) json["path"] = readParts(context, parts);
  if (expression !== undefined) checkTemplateNode(context, expression);
  if (Object.values(json).includes(undefined)) return undefined;
  try {
    const reference = decodeReference(json);
    const problem = referenceProblem(reference);
    if (problem !== undefined) reportProblem(context, node, problem);
    return reference;
  } catch (error) {
    if (!isStepsError(error)) throw error;
    reportProblem(context, node, { message: error.message });
    return undefined;
  }
}

function readParts(context: CompileContext, node: YamlNode): readonly string[] {
  if (node.kind === "list") return node.items.map((item) => asString(context, item, "A part of the path") ?? "");
  wrongType(context, node, "The path must be a list of strings");
  return [];
}

function referenceProblem(reference: StepReference): ReferenceProblem | undefined {
  if (isNamed(reference)) return kindOf(reference).problem(reference);
  const isEmpty = reference.kind === "dynamic" && reference.text.trim() === "";
  return isEmpty ? { message: "The reference is empty" } : undefined;
}
