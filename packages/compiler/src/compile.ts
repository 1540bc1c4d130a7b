import { createObject, type Value } from "@steps/model";
import { emptySpec, type SpecDefinition } from "@steps/model/definition";
import type { Source } from "@steps/model/diagnostic";
import {
  childOf,
  type Places,
  positionIn,
  readYaml,
  spanPosition,
  type YamlMapping,
  type YamlNode,
  type YamlScalar,
} from "@steps/source";
import { noteEmptyRun } from "./definition/compile-definition.ts";
import { readInvocations } from "./invocation/compile-invocation.ts";
import { inlineReaders, readBaselineSpecDefinition, readPair } from "./definition/compile-spec-definition.ts";
import { type Compiled, type CompileContext, type CompileOptions, createContext, finishCompile } from "./context.ts";
import { checkNames } from "./names/check-names.ts";
import { NAMES_OF_JOB } from "./names/scope-names.ts";
import { readPrototext } from "./prototext/read-prototext.ts";

/**
 * Compiles a step file: two YAML documents, the spec and the definition.
 *
 * @throws {TypeError} for an option that there is none of, and for nothing else
 */
export function compileStepFile(source: Source, options: CompileOptions = {}): Compiled {
  return compileText(source, createContext(options), readFile);
}

/**
 * Compiles a YAML or JSON list of steps, as `STEPS` holds it: a definition with an empty spec.
 *
 * @throws {TypeError} for an option that there is none of, and for nothing else
 */
export function compileStepList(source: Source, options: CompileOptions = {}): Compiled {
  return compileText(source, createContext(options), (context, documents) => {
    refuseFurther(context, documents, 1);
    return readList(context, documents[0] as YamlNode);
  });
}

/**
 * Compiles what a command line or a request holds, told apart by its shape: a list of steps; a definition;
 * `{spec, definition}` or `[spec, definition]`; a baseline message in protobuf's JSON form, which those are too; or a
 * step file of two documents.
 *
 * @throws {TypeError} for an option that there is none of, and for nothing else
 */
export function compileInput(source: Source, options: CompileOptions = {}): Compiled {
  return compileText(source, createContext(options, { acceptsBaseline: true }), (context, documents) =>
    documents.length > 1
      ? readFile({ ...context, acceptsBaseline: false }, documents)
      : readShape(context, documents[0] as YamlNode),
  );
}

/**
 * Compiles a baseline message in protobuf's text form: a definition, or a spec with its definition.
 *
 * @throws {TypeError} for an option that there is none of, and for nothing else
 */
export function compilePrototext(source: Source, options: CompileOptions = {}): Compiled {
  const context = createContext(options, { acceptsBaseline: true });
  const { node, diagnostics } = readPrototext(source);
  context.report.include(diagnostics);
  return finishCompile(context, node === undefined ? undefined : readShape(context, node));
}

/**
 * Compiles the list of a `run:` that a front-end has read with its document.
 *
 * @throws {TypeError} for an option that there is none of, and for nothing else
 */
export function compileRunNode(node: YamlNode, options: CompileOptions = {}): Compiled {
  const context = createContext(options);
  return finishCompile(context, readList(context, node));
}

type Reader = (context: CompileContext, documents: readonly YamlNode[]) => SpecDefinition | undefined;

function compileText(source: Source, context: CompileContext, read: Reader): Compiled {
  const { documents, diagnostics, isBroken } = readYaml(source);
  context.report.include(diagnostics);
  if (isBroken) return finishCompile(context, undefined);
  if (documents.length === 0) {
    context.report.error({ source, offset: 0, length: 1 }, { code: "empty-text", message: "The text is empty" });
    return finishCompile(context, undefined);
  }
  const compiled = finishCompile(context, read(context, documents));
  return source.text.length <= MAX_KEPT_LENGTH
    ? compiled
    : { ...compiled, positionOf: placesAgain(source, context, read) };
}

/**
 * The nodes of a longer text are not kept for as long as its steps run: they take ten times its own room, and most runs ask for no
 * place. Whoever asks first waits for the text to be read once more.
 */
const MAX_KEPT_LENGTH = 64 * 1024;

// The result must not hold the context, which has all nodes.
function placesAgain(
  source: Source,
  { options, acceptsBaseline }: CompileContext,
  read: Reader,
): Compiled["positionOf"] {
  let places: Places | undefined;
  const readAgain = (): Places => {
    const context = createContext({ ...options, unknownNames: undefined }, { acceptsBaseline });
    read(context, readYaml(source).documents);
    return context.places;
  };
  return (pointer, part) => positionIn((places ??= readAgain()), pointer, part);
}

function readFile(context: CompileContext, documents: readonly YamlNode[]): SpecDefinition | undefined {
  const [spec, definition] = documents;
  if (spec === undefined || definition === undefined) {
    reportMissingDocument(context, spec as YamlNode);
    return undefined;
  }
  refuseFurther(context, documents, 2);
  const pair = readPair(context, { spec, definition });
  if (pair?.definition.type !== "exec" || !isBlueprint(spec, definition)) return pair;
  return { ...pair, definition: { ...pair.definition, isBlueprint: true } };
}

// A key of the definition beside spec: says where the line that separates them belongs.
function reportMissingDocument(context: CompileContext, only: YamlNode): void {
  const first = only.kind === "mapping" && only.entries.has("spec") ? definitionKey(only) : undefined;
  if (first !== undefined) {
    context.report.error(first, {
      code: "missing-document",
      message: "A line of --- is missing between the spec and the definition",
      hint: `Write --- on a line of its own before ${first.text}:.`,
    });
    return;
  }
  if (only.kind === "list") {
    context.report.error(only, {
      code: "missing-document",
      message: "This is a list of steps, and no step file",
      hint: "For a step of these write spec: and a line of --- before them, and put the list under run:.",
    });
    return;
  }
  const isSpec = only.kind === "mapping" && only.entries.has("spec");
  context.report.error(only, {
    code: "missing-document",
    message: "A step file has two documents, the spec and the definition; found one",
    hint: isSpec
      ? "Write a line of --- and then the definition, with exec: or run:."
      : "Before the definition write spec: and a line of ---.",
  });
}

const DEFINITION_KEYS: ReadonlySet<string> = new Set(["type", "exec", "run", "steps", "delegate"]);

function definitionKey({ entries }: YamlMapping): YamlScalar | undefined {
  return [...entries.values()].find(({ key }) => DEFINITION_KEYS.has(key.text))?.key;
}

/** Whether a file is of the days before `type:` moved from the definition to the inputs (conformance section 20 C1). */
function isBlueprint(spec: YamlNode, definition: YamlNode): boolean {
  const inputs = childOf(childOf(spec, "spec") ?? spec, "inputs");
  const ports = inputs?.kind === "mapping" ? [...inputs.entries.values()] : [];
  return childOf(definition, "type") !== undefined && ports.every(({ value }) => childOf(value, "type") === undefined);
}

function refuseFurther(context: CompileContext, documents: readonly YamlNode[], count: number): void {
  const extra = documents[count];
  if (extra === undefined) return;
  context.report.error(extra, {
    code: "extra-document",
    message: count === 1 ? "A list of steps is one document" : "A step file has two documents only",
    hint: `Document ${count} ends before line ${spanPosition(extra).line}.`,
  });
}

function readList(context: CompileContext, node: YamlNode): SpecDefinition {
  const steps = readInvocations(context, node, { pointer: "/definition/steps", inline: inlineReaders });
  context.places.set("/definition", node);
  if (node.kind === "list" && node.items.length === 0) noteEmptyRun(context, node);
  const definition = { type: "steps", steps, env: createObject<string>(), outputs: createObject<Value>() } as const;
  checkNames(context, definition, { names: NAMES_OF_JOB, pointer: "/definition" });
  return { spec: emptySpec, definition };
}

function readShape(context: CompileContext, node: YamlNode): SpecDefinition | undefined {
  if (node.kind === "list") {
    const [spec, definition] = node.items;
    if (node.items.length === 2 && spec !== undefined && definition !== undefined && isPair(spec, definition)) {
      return readPair(context, { spec, definition });
    }
    return readList(context, node);
  }
  if (node.kind === "mapping" && node.entries.has("spec") && !node.entries.has("definition") && definitionKey(node)) {
    reportMissingDocument(context, node);
    return undefined;
  }
  if (node.kind === "mapping" && (node.entries.has("definition") || node.entries.has("spec"))) {
    return readBaselineSpecDefinition(context, node, "")?.specDefinition;
  }
  return readPair(context, { spec: undefined, definition: node });
}

/** `[spec, definition]`: an item of a list of steps has more than `spec`, and says what to do otherwise. */
function isPair(spec: YamlNode, definition: YamlNode): boolean {
  if (spec.kind === "scalar") return spec.value === null;
  return (
    spec.kind === "mapping" &&
    [...spec.entries.keys()].every((key) => key === "spec") &&
    definition.kind === "mapping" &&
    !definition.entries.has("name")
  );
}
