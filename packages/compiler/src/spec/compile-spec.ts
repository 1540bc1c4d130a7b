import { createObject } from "@steps/model";
import { emptySpec, type InputSpec, type OutputSpec, type Spec } from "@steps/model/definition";
import { childOf, type YamlMapping, type YamlNode } from "@steps/source";
import type { KeyTable } from "@steps/source/keys";
import { escapePointer } from "@steps/model/value";
import { checkName } from "../texts/check-name.ts";
import { asMapping, checkKeys, type CompileContext, wrongType } from "../context.ts";
import { DOCUMENT_KEYS, SPEC_KEYS } from "../keys/spec-keys.ts";
import { readSecrets } from "./compile-secrets.ts";
import { readInputPort, readOutputPort } from "./compile-port.ts";

const BASELINE_SPEC_KEYS: KeyTable = { what: "spec", known: [...SPEC_KEYS.known, "outputMethod", "output_method"] };

/** The first document of a step file: a mapping with `spec`, or empty. */
export function readSpecDocument(context: CompileContext, node: YamlNode, pointer: string): Spec {
  const hint = "Write {} for a step that takes and gives nothing.";
  const document = asMapping(context, node, "The spec document", hint);
  if (document === undefined) return emptySpec;
  context.places.set(pointer, document);
  checkKeys(context, document, DOCUMENT_KEYS);
  const content = childOf(document, "spec");
  return content === undefined ? emptySpec : readSpec(context, content, pointer);
}

/** Reads the inputs and outputs of `spec`. A spec without content declares none. */
export function readSpec(context: CompileContext, node: YamlNode, pointer: string): Spec {
  if (node.kind === "scalar" && node.value === null) return emptySpec;
  const spec = asMapping(context, node, "spec");
  if (spec === undefined) return emptySpec;
  context.places.set(pointer, spec);
  checkKeys(context, spec, context.acceptsBaseline ? BASELINE_SPEC_KEYS : SPEC_KEYS);
  const inputs = readPorts(context, spec, { key: "inputs", pointer, read: readInputPort });
  const secrets = readSecrets(context, spec, pointer);
  const description = childOf(spec, "description");
  const text = description?.kind === "scalar" ? description.text : "";
  return {
    inputs,
    outputs: readOutputs(context, spec, pointer),
    secrets,
    ...(text === "" ? {} : { description: text }),
  };
}

function readOutputs(context: CompileContext, spec: YamlMapping, pointer: string): Spec["outputs"] {
  const node = childOf(spec, "outputs");
  const method = childOf(spec, "outputMethod") ?? childOf(spec, "output_method");
  const isDelegate = method?.kind === "scalar" && (method.value === "delegate" || method.value === 2);
  if (context.acceptsBaseline && isDelegate) return "delegate";
  if (node === undefined) return createObject();
  if (node.kind === "scalar" && typeof node.value === "string") {
    context.places.set(`${pointer}/outputs`, node);
    if (node.value === "delegate") return "delegate";
    wrongType(context, node, 'outputs must be a mapping or "delegate"');
    return createObject();
  }
  const ports = readPorts(context, spec, { key: "outputs", pointer, read: readOutputPort });
  // 2024: one output of the type `step_result` stands for all outputs of a child.
  const results = Object.keys(ports).filter((name) => ports[name] === "delegate");
  if (results.length === 0) return ports as Record<string, OutputSpec>;
  if (Object.keys(ports).length > 1) {
    context.report.error(node, {
      code: "conflicting-keys",
      message: 'An output of type "step_result" must be the only one',
      hint: "Write outputs: delegate.",
    });
  }
  return "delegate";
}

interface PortOptions<Port> {
  readonly key: "inputs" | "outputs";
  readonly pointer: string;
  readonly read: (context: CompileContext, node: YamlNode, at: { name: string; pointer: string }) => Port;
}

function readPorts<Port extends InputSpec | OutputSpec | "delegate">(
  context: CompileContext,
  spec: YamlMapping,
  { key, pointer, read }: PortOptions<Port>,
): Record<string, Port> {
  const ports = createObject<Port>();
  const node = childOf(spec, key);
  if (node === undefined || (node.kind === "scalar" && node.value === null)) return ports;
  const mapping = asMapping(context, node, key);
  if (mapping === undefined) return ports;
  context.places.set(`${pointer}/${key}`, mapping);
  for (const [name, entry] of mapping.entries) {
    checkName(context, entry.key, { what: key === "inputs" ? "an input" : "an output" });
    const at = `${pointer}/${key}/${escapePointer(name)}`;
    // An input of no words has no place of its own.
    const isEmpty = entry.value.kind === "scalar" && entry.value.value === null;
    context.places.set(at, isEmpty ? entry.key : entry.value);
    ports[name] = read(context, isEmpty ? emptyMapping(entry.key) : entry.value, { name, pointer: at });
  }
  return ports;
}

function emptyMapping({ source, offset, length }: YamlNode): YamlMapping {
  return { kind: "mapping", entries: new Map(), source, offset, length };
}
