import { emptySpec, type Spec, type SpecDefinition } from "@steps/model/definition";
import { nearest } from "@steps/model/diagnostic";
import { childOf, type YamlNode } from "@steps/source";
import { escapePointer } from "@steps/model/value";
import { isOfGithub, readGithubPair } from "./baseline-github.ts";
import { readDefinition } from "./compile-definition.ts";
import type { InlineReaders } from "../invocation/compile-invocation.ts";
import type { InlineSpec } from "../reference/inline-spec.ts";
import { readSpec, readSpecDocument } from "../spec/compile-spec.ts";
import { checkNames } from "../names/check-names.ts";
import { NAMES_OF_JOB, namesOfSpec } from "../names/scope-names.ts";
import { asMapping, checkKeys, type CompileContext } from "../context.ts";

// Names that a hint is looked for among.
const MAX_CANDIDATES = 500;

/** How definitions within definitions are read. */
export const inlineReaders: InlineReaders = {
  definition: (context, node, pointer) => readDefinition(context, node, { pointer, inline: inlineReaders }),
  specDefinition: (context, node, pointer) => readBaselineSpecDefinition(context, node, pointer),
};

/** A spec and a definition that belong together; `spec` is `undefined` when the author gave none. */
export function readPair(
  context: CompileContext,
  nodes: { readonly spec: YamlNode | undefined; readonly definition: YamlNode },
  pointer = "",
): SpecDefinition | undefined {
  if (isOfGithub(context, nodes.definition)) return readGithubPair(context, nodes, pointer);
  const spec = nodes.spec === undefined ? emptySpec : readEitherSpec(context, nodes.spec, `${pointer}/spec`);
  const definition = inlineReaders.definition(context, nodes.definition, `${pointer}/definition`);
  if (definition === undefined) return undefined;
  const specDefinition = { spec, definition };
  if (nodes.spec !== undefined) checkOutputs(context, specDefinition, pointer);
  // Inner definitions are checked with the outer one. A baseline message has an empty spec where a job has none.
  if (pointer === "") {
    const names = nodes.spec === undefined || context.acceptsBaseline ? NAMES_OF_JOB : namesOfSpec(spec);
    checkNames(context, definition, { names, pointer: "/definition" });
  }
  return specDefinition;
}

/** `{spec, definition}`, as the baseline has it. */
export function readBaselineSpecDefinition(
  context: CompileContext,
  node: YamlNode,
  pointer: string,
): InlineSpec | undefined {
  const both = asMapping(context, node, "A spec with its definition");
  if (both === undefined) return undefined;
  context.places.set(pointer, both);
  checkKeys(context, both, { what: "a spec with its definition", known: ["spec", "definition"] });
  const [spec, definition] = [childOf(both, "spec"), childOf(both, "definition")];
  if (definition === undefined) {
    context.report.error(both, { code: "missing-key", message: "The definition is missing" });
    return undefined;
  }
  const hasSpec = spec !== undefined;
  const specDefinition = readPair(context, { spec, definition }, pointer);
  return specDefinition === undefined ? undefined : { specDefinition, hasSpec };
}

// The first document and the baseline have `spec` inside of a mapping; shorter is fine where a mapping says `spec:` already.
function readEitherSpec(context: CompileContext, node: YamlNode, pointer: string): Spec {
  const isBare =
    context.acceptsBaseline && (childOf(node, "inputs") !== undefined || childOf(node, "outputs") !== undefined);
  const isNothing = context.acceptsBaseline && node.kind === "scalar" && node.value === null;
  return isBare || isNothing ? readSpec(context, node, pointer) : readSpecDocument(context, node, pointer);
}

/** Checks that the definition gives the outputs that the spec promises. */
function checkOutputs(context: CompileContext, { spec, definition }: SpecDefinition, pointer: string): void {
  if (definition.type === "exec") return;
  const at = (path: string): YamlNode | undefined => context.places.get(`${pointer}${path}`);
  const whole = at("/definition") as YamlNode;
  if (spec.outputs === "delegate") {
    if (definition.delegate === undefined) {
      context.report.error(at("/spec/outputs") ?? whole, {
        code: "invalid-delegate",
        message: "The outputs are delegated, but the definition names no step",
        hint: "Write delegate: and the name of a step beside run:.",
      });
    }
    if (Object.keys(definition.outputs).length > 0) {
      context.report.error(at("/definition/outputs") ?? whole, {
        code: "conflicting-keys",
        message: "The outputs are delegated, so the definition cannot have outputs of its own",
      });
    }
    return;
  }
  if (definition.delegate !== undefined) {
    context.report.error(at("/definition/delegate") ?? whole, {
      code: "invalid-delegate",
      message: "The definition delegates its outputs, but the spec declares them",
      hint: "Write outputs: delegate in the spec.",
    });
    return;
  }
  // The baseline has an empty spec too where the author gave none.
  if (context.acceptsBaseline && Object.keys(spec.outputs).length === 0) return;
  compareOutputs(context, { declared: spec.outputs, given: definition.outputs, at, whole });
}

function compareOutputs(
  context: CompileContext,
  options: {
    readonly declared: Exclude<Spec["outputs"], "delegate">;
    readonly given: Readonly<Record<string, unknown>>;
    readonly at: (path: string) => YamlNode | undefined;
    readonly whole: YamlNode;
  },
): void {
  const { declared, given, at, whole } = options;
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(declared, name)) continue;
    context.report.error(at(`/definition/outputs/${escapePointer(name)}`) ?? whole, () => {
      const near = nearest(name, Object.keys(declared).slice(0, MAX_CANDIDATES));
      return {
        code: "undeclared-output",
        message: `The spec declares no output "${name.slice(0, 80)}"`,
        hint: near === undefined ? "Declare it in the spec, or remove it." : `Did you mean "${near}"?`,
      };
    });
  }
  for (const [name, port] of Object.entries(declared)) {
    if (Object.hasOwn(given, name) || port.default !== undefined) continue;
    context.report.error(at(`/spec/outputs/${escapePointer(name)}`) ?? whole, () => ({
      code: "missing-output",
      message: `The definition gives no output "${name.slice(0, 80)}"`,
      hint: "Add it to outputs: beside run:, or give it a default.",
    }));
  }
}
