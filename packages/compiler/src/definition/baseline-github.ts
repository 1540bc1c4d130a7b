import { isStepsError } from "@steps/model";
import { decodeSpecDefinition } from "@steps/model/baseline";
import type { SpecDefinition } from "@steps/model/definition";
import { childOf, type YamlNode } from "@steps/source";
import { reportProblem } from "../reference/long/long-form.ts";
import { asValue, checkKeys, type CompileContext, wrongType } from "../context.ts";

/** The type that a value of a message must have. A function delays it, for messages that hold messages of their own type. */
type Shape = "text" | "flag" | "any" | { readonly list: Shape } | { readonly map: Shape } | Message | (() => Shape);

interface Message {
  /** As diagnostics name it. */
  readonly what: string;
  readonly fields: Readonly<Record<string, Shape>>;
}

const texts: Shape = { list: "text" };
const textMap: Shape = { map: "text" };
const anyMap: Shape = { map: "any" };

const port: Message = {
  what: "an input or output",
  fields: {
    type: "text",
    default: "any",
    sensitive: "flag",
    description: "text",
    options: { list: "any" },
    match: "text",
  },
};
const content: Message = {
  what: "a spec",
  fields: { inputs: { map: port }, outputs: { map: port }, outputMethod: "text", description: "text" },
};
const spec: Message = { what: "the spec", fields: { spec: content } };
const part: Message = {
  what: "the part of GitHub Actions",
  fields: {
    ...Object.fromEntries(
      ["using", "script", "pre", "preIf", "post", "postIf", "image", "entrypoint"].map((name) => [name, "text"]),
    ),
    args: { what: "args", fields: { words: texts } },
    deprecatedInputs: textMap,
    requiredInputs: texts,
    contexts: anyMap,
    container: "any",
    services: anyMap,
  },
};
const reference: Message = {
  what: "a baseline reference",
  fields: {
    protocol: "text",
    url: "text",
    specDef: () => specDefinition,
  },
};
const invocation: Message = {
  what: "a step",
  fields: {
    name: "text",
    step: reference,
    env: textMap,
    inputs: anyMap,
    github: {
      what: "the part of GitHub Actions",
      fields: { title: "text", if: "text", continueOnError: "text", timeoutMinutes: "text" },
    },
  },
};
const definition: Message = {
  what: "a definition",
  fields: {
    type: "text",
    exec: { what: "exec", fields: { command: texts, workDir: "text" } },
    steps: { list: invocation },
    outputs: anyMap,
    env: textMap,
    github: part,
  },
};
const specDefinition: Message = { what: "a spec with its definition", fields: { spec, definition } };

/** Whether a node is a definition of GitHub Actions, as the baseline has it: its texts are in GitHub's language. */
export function isOfGithub(context: CompileContext, node: YamlNode): boolean {
  return context.acceptsBaseline && childOf(node, "github") !== undefined;
}

/**
 * Reads a baseline message of GitHub Actions, as `compile` prints it. The texts in it were checked when they were compiled,
 * so only the form of the message is checked here.
 */
export function readGithubPair(
  context: CompileContext,
  nodes: { readonly spec: YamlNode | undefined; readonly definition: YamlNode },
  pointer: string,
): SpecDefinition | undefined {
  context.places.set(`${pointer}/definition`, nodes.definition);
  const isNothing = nodes.spec?.kind === "scalar" && nodes.spec.value === null;
  const given = isNothing ? undefined : nodes.spec;
  const isSpec = given === undefined || check(context, given, spec, "The spec");
  const isDefinition = check(context, nodes.definition, definition, "The definition");
  if (!isSpec || !isDefinition) return undefined;
  const message = {
    definition: asValue(context, nodes.definition),
    spec: given === undefined ? undefined : asValue(context, given),
  };
  try {
    const read = decodeSpecDefinition(message as Parameters<typeof decodeSpecDefinition>[0]);
    if (pointer !== "" || read.definition.github?.using === "job") return read;
    context.report.error(nodes.definition, {
      code: "not-supported",
      message: "An action is no job",
      hint: "Run it by its name: step-runner run ./dir. Or make it a step of a list.",
    });
  } catch (error) {
    if (!isStepsError(error)) throw error;
    reportProblem(context, nodes.definition, { message: error.message });
  }
  return undefined;
}

function check(context: CompileContext, node: YamlNode, shape: Shape, what: string): boolean {
  if (typeof shape === "function") return check(context, node, shape(), what);
  if (shape === "any") return true;
  if (shape === "text" || shape === "flag") {
    const isRight = node.kind === "scalar" && typeof node.value === (shape === "text" ? "string" : "boolean");
    if (!isRight) wrongType(context, node, `${what} must be ${shape === "text" ? "a string" : "true or false"}`);
    return isRight;
  }
  if ("list" in shape) {
    if (node.kind === "list") return node.items.every((item) => check(context, item, shape.list, `An item of ${what}`));
    wrongType(context, node, `${what} must be a list`);
    return false;
  }
  if (node.kind !== "mapping") {
    wrongType(context, node, `${what} must be a mapping`);
    return false;
  }
  const entries = [...node.entries];
  if ("map" in shape) {
    return entries.every(([name, { value }]) => check(context, value, shape.map, `"${name.slice(0, 80)}"`));
  }
  checkKeys(context, node, { what: shape.what, known: Object.keys(shape.fields) });
  return entries.every(([name, { value }]) => {
    const field = Object.hasOwn(shape.fields, name) ? shape.fields[name] : undefined;
    return field === undefined || check(context, value, field, `"${name.slice(0, 80)}"`);
  });
}
