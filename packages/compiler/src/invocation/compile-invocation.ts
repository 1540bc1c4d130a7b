import { createObject, type Value } from "@steps/model";
import { emptySpec, type Definition, type StepInvocation } from "@steps/model/definition";
import type { StepReference } from "@steps/model/reference";
import { childOf, describeNode, type YamlEntry, type YamlMapping, type YamlNode } from "@steps/source";
import { readBaselineReference } from "../reference/baseline-reference.ts";
import { checkStepName } from "../texts/check-name.ts";
import { readControl } from "./compile-control.ts";
import { readGrants } from "../spec/compile-secrets.ts";
import { readInputs } from "./compile-inputs.ts";
import { readReference } from "../reference/compile-reference.ts";
import type { InlineSpec } from "../reference/inline-spec.ts";
import { readScript } from "./compile-script.ts";
import { asMapping, asString, checkKeys, type CompileContext, reportMissing, withKeys } from "../context.ts";
import { readEnv } from "../texts/compile-env.ts";
import { FINALLY_KEYS } from "../keys/definition-keys.ts";
import { readAction, readActionInputs, readUpstreamAction } from "./compile-action.ts";
import { INLINE_KEYS, INLINE_KINDS, INVOCATION_KEYS, KIND_KEYS } from "../keys/invocation-keys.ts";

/** How definitions written in place are read; given by the reader of definitions, which reads lists itself. */
export interface InlineReaders {
  readonly definition: (context: CompileContext, node: YamlNode, pointer: string) => Definition | undefined;
  readonly specDefinition: (context: CompileContext, node: YamlNode, pointer: string) => InlineSpec | undefined;
}

type KindKey = (typeof KIND_KEYS)[number];

const INLINE_DEFINITION_KEYS: ReadonlySet<string> = new Set([
  ...INLINE_KINDS,
  "type",
  "outputs",
  "inherit_env",
  ...FINALLY_KEYS,
]);

const OWN_KEYS = { inline: INLINE_KEYS, invocation: INVOCATION_KEYS } as const;
const BASELINE_KEYS = {
  inline: withKeys(INLINE_KEYS, ["control"]),
  invocation: withKeys(INVOCATION_KEYS, ["control"]),
} as const;

interface ListOptions {
  readonly pointer: string;
  readonly inline: InlineReaders;
  /** Names of steps that share the namespace. */
  readonly taken?: readonly string[];
}

/** The items of a `run` list. */
export function readInvocations(context: CompileContext, node: YamlNode, options: ListOptions): StepInvocation[] {
  context.places.set(options.pointer, node);
  if (node.kind !== "list") {
    context.report.error(node, () => ({
      code: "wrong-type",
      message: `The steps must be a list, found ${describeNode(node)}`,
      hint:
        node.kind === "scalar" && typeof node.value === "string"
          ? "For shell commands write a list with one item: - script: …"
          : "Write each step as an item: - name: …",
    }));
    return [];
  }
  const names = new Map<string, number>(options.taken?.map((name, i) => [name, i]));
  const { inline } = options;
  const invocations: StepInvocation[] = [];
  for (const [i, item] of node.items.entries()) {
    const pointer = `${options.pointer}/${i}`;
    const invocation = readInvocation(context, item, { pointer, inline });
    const name = invocation?.name ?? writtenName(item);
    if (name !== "") checkDuplicate(context, item, { name, names, i });
    invocations.push(invocation ?? brokenItem(name));
  }
  return invocations;
}

// It keeps the place of an item that has errors: the items behind it have their own numbers, and its name is known to them.
function brokenItem(name: string): StepInvocation {
  return { name, step: { kind: "dynamic", text: "" }, inputs: createObject(), env: createObject() };
}

// The item may be wrong otherwise: its name still has to be taken, so that a second one is found.
function writtenName(item: YamlNode): string {
  const node = childOf(item, "name");
  return node?.kind === "scalar" && typeof node.value === "string" ? node.value : "";
}

function checkDuplicate(
  context: CompileContext,
  item: YamlNode,
  { name, names, i }: { name: string; names: Map<string, number>; i: number },
): void {
  const before = names.get(name);
  if (before === undefined) names.set(name, i);
  else {
    context.report.error(childOf(item, "name") ?? item, () => ({
      code: "duplicate-name",
      message: `Two steps of the list have the name "${name.slice(0, 80)}"`,
      hint: `The first one is item ${before + 1} of the list.`,
    }));
  }
}

function readInvocation(
  context: CompileContext,
  node: YamlNode,
  { pointer, inline }: ListOptions,
): StepInvocation | undefined {
  const item = asMapping(context, node, "A step", "Write - name: …, with script:, step: or func:.");
  if (item === undefined) return undefined;
  const kinds = KIND_KEYS.filter((key) => item.entries.has(key));
  const kind = kinds[0];
  const isInline = kind === "exec" || kind === "run" || kind === "steps" || kind === "parallel";
  const tables = context.acceptsBaseline ? BASELINE_KEYS : OWN_KEYS;
  checkKeys(context, item, isInline ? tables.inline : tables.invocation);
  if (kinds.length > 1) reportConflict(context, item, kinds);
  if (kind === undefined) {
    reportMissing(context, item, {
      table: tables.invocation,
      missing: KIND_KEYS,
      message: "The step does not say what to do",
      hint: "Write one of step:, func:, script:, exec:, run: and parallel:.",
    });
  }
  const name = readName(context, item);
  const env = readEnv(context, item);
  const control = readControl(context, item, pointer);
  const common = { name, env, control };
  if (kind === undefined) return undefined;
  if (kind === "action" || kind === "uses") {
    const step = readAction(context, item, { key: kind, pointer });
    const inputs = readActionInputs(context, item, pointer);
    return step === undefined ? undefined : { ...common, step, inputs };
  }
  refuseWith(context, item);
  if (kind === "script") return { ...common, ...readScript(context, item, pointer) };
  const step = isInline
    ? readInline(context, item, { pointer, inline })
    : readStep(context, item, { kind, pointer, inline });
  const inputs = isInline ? createObject<Value>() : readValues(context, item, { step, pointer });
  const secrets = isInline ? undefined : readGrants(context, item, pointer);
  if (step === undefined) return undefined;
  const upstream = readUpstreamAction(step, inputs);
  if (upstream !== undefined) return { ...common, ...upstream };
  return { ...common, step, inputs, secrets };
}

// A baseline message has actions where others have steps.
function readValues(
  context: CompileContext,
  item: YamlMapping,
  { step, pointer }: { readonly step: StepReference | undefined; readonly pointer: string },
): Record<string, Value> {
  const isAction =
    step?.kind === "action" || (step?.kind === "inline" && step.specDefinition.definition.github !== undefined);
  return isAction ? readActionInputs(context, item, pointer) : readInputs(context, item, { pointer });
}

function refuseWith(context: CompileContext, item: YamlMapping): void {
  const entry = item.entries.get("with");
  if (entry === undefined) return;
  context.report.error(entry.key, {
    code: "unknown-key",
    message: 'Only an action has "with"',
    hint: "The values for a step are its inputs:.",
  });
}

function reportConflict(context: CompileContext, item: YamlMapping, kinds: readonly KindKey[]): void {
  const second = item.entries.get(kinds[1] as string)?.key ?? item;
  const same = kinds.includes("step") && kinds.includes("func");
  context.report.error(second, {
    code: "conflicting-keys",
    message: `A step can have only one of ${kinds.join(", ")}`,
    hint: same ? "func is the new name of step; keep one." : "Make two steps of it.",
  });
}

function readName(context: CompileContext, item: YamlMapping): string {
  const node = childOf(item, "name");
  if (node === undefined) return "";
  const name = asString(context, node, "The name of a step");
  if (name === undefined || node.kind !== "scalar") return "";
  if (name === "" && context.acceptsBaseline) return "";
  checkStepName(context, node);
  return name;
}

function readStep(
  context: CompileContext,
  item: YamlMapping,
  { kind, pointer, inline }: ListOptions & { kind: "step" | "func" },
): StepReference | undefined {
  const node = childOf(item, kind) as YamlNode;
  context.places.set(`${pointer}/step`, node);
  if (context.acceptsBaseline && childOf(node, "protocol") !== undefined) {
    return readBaselineReference(context, node as YamlMapping, {
      pointer: `${pointer}/step`,
      readInline: inline.specDefinition,
    });
  }
  return readReference(context, node);
}

const INLINE_HINTS = {
  inputs: "It sees the inputs of the step it is written in; pass other values through env:.",
  secrets: "It sees the secrets of the step it is written in: env: {TOKEN: ${{ secrets.token }}}.",
  delegate: "Write outputs: with the values of the child.",
};

/** An anonymous definition: it has no spec, and sees the inputs of the step it is written in. */
function readInline(
  context: CompileContext,
  item: YamlMapping,
  { pointer, inline }: ListOptions,
): StepReference | undefined {
  for (const key of ["inputs", "secrets", "delegate"] as const) {
    const entry = item.entries.get(key);
    if (entry === undefined) continue;
    context.report.error(entry.key, {
      code: "conflicting-keys",
      message: `An inline step cannot have ${key}, since it has no spec`,
      hint: INLINE_HINTS[key],
    });
  }
  // Its `env` is the invocation's: it is expanded where the item stands, and may name earlier steps.
  const own = new Map<string, YamlEntry>();
  for (const [key, entry] of item.entries) if (INLINE_DEFINITION_KEYS.has(key)) own.set(key, entry);
  const definition = inline.definition(context, { ...item, entries: own }, `${pointer}/step/specDef/definition`);
  if (definition === undefined) return undefined;
  return { kind: "inline", specDefinition: { spec: emptySpec, definition }, seesCallerInputs: true };
}
