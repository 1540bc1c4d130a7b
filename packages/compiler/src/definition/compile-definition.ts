import { createObject, type Value } from "@steps/model";
import type { Definition, ExecDefinition, StepsDefinition } from "@steps/model/definition";
import { nearest } from "@steps/model/diagnostic";
import type { KeyTable } from "@steps/source/keys";
import { childOf, describeNode, type YamlMapping, type YamlNode } from "@steps/source";
import { escapePointer } from "@steps/model/value";
import { checkName, refuseExpression } from "../texts/check-name.ts";
import { checkTemplateNode, checkTemplates } from "../texts/check-template.ts";
import { checkNul, readEnv } from "../texts/compile-env.ts";
import { readInheritEnv } from "./compile-inherit-env.ts";
import { type InlineReaders, readInvocations } from "../invocation/compile-invocation.ts";
import {
  asMapping,
  asString,
  asText,
  asValue,
  checkKeys,
  type CompileContext,
  reportMissing,
  withKeys,
  wrongType,
} from "../context.ts";
import {
  DEFINITION_KEYS,
  DEFINITION_KINDS,
  EXEC_KEYS,
  FINALLY_KEYS,
  LATER_TYPES,
  LIST_ONLY_KEYS,
  WORK_DIR_KEYS,
} from "../keys/definition-keys.ts";
import { readDuration } from "../texts/read-duration.ts";

interface Place {
  readonly pointer: string;
  readonly inline: InlineReaders;
}

const BASELINE_DEFINITION_KEYS: KeyTable = withKeys(DEFINITION_KEYS, ["inheritEnv"]);
const BASELINE_EXEC_KEYS: KeyTable = withKeys(EXEC_KEYS, ["cancelTimeout", "contextFile"]);

/** Reads the definition of a step in the syntax of any year, and reports the mistakes in it. */
export function readDefinition(
  context: CompileContext,
  node: YamlNode,
  { pointer, inline }: Place,
): Definition | undefined {
  const definition = asMapping(context, node, "The definition", "Write exec: or run:.");
  if (definition === undefined) return undefined;
  context.places.set(pointer, definition);
  checkKeys(context, definition, definitionKeys(context));
  const kind = readKind(context, definition);
  const env = readEnv(context, definition);
  const inherited = readInheritEnv(context, definition);
  if (kind === undefined) return undefined;
  if (kind === "exec") {
    refuseKeys(context, definition, LIST_ONLY_KEYS);
    const exec = childOf(definition, "exec") as YamlNode;
    return { ...readExec(context, exec, `${pointer}/exec`), env, ...inherited };
  }
  const isParallel = kind === "parallel" || isBaselineParallel(context, definition);
  const steps = readSteps(context, definition, { pointer, inline, list: childOf(definition, kind) });
  return { ...steps, ...(isParallel ? { isParallel } : {}), env, ...inherited };
}

function definitionKeys({ acceptsBaseline }: CompileContext): KeyTable {
  return acceptsBaseline ? BASELINE_DEFINITION_KEYS : DEFINITION_KEYS;
}

type Kind = (typeof DEFINITION_KINDS)[number];

// In a baseline message `parallel` says how the list in `steps` runs.
function isBaselineParallel(context: CompileContext, definition: YamlMapping): boolean {
  const node = childOf(definition, "parallel");
  return context.acceptsBaseline && node?.kind === "scalar" && node.value === true;
}

function readKind(context: CompileContext, definition: YamlMapping): Kind | undefined {
  const isFlag = isBaselineParallel(context, definition);
  const kinds = DEFINITION_KINDS.filter((key) => definition.entries.has(key) && !(key === "parallel" && isFlag));
  const type = readType(context, definition);
  if (kinds.length > 1) {
    context.report.error(definition.entries.get(kinds[1] as string)?.key ?? definition, {
      code: "conflicting-keys",
      message: `A definition can have only one of ${kinds.join(", ")}`,
      hint: conflictHint(kinds),
    });
  }
  const kind = kinds[0];
  if (kind === undefined) {
    // The baseline leaves out an empty list.
    if (context.acceptsBaseline && type === "steps") return "steps";
    if (type !== "later") {
      reportMissing(context, definition, {
        table: definitionKeys(context),
        missing: DEFINITION_KINDS,
        message: "The definition does not say what to do",
        hint: "Write exec: with a command, or run: with a list of steps.",
      });
    }
    return undefined;
  }
  if ((type === "exec" || type === "steps") && (kind === "exec") !== (type === "exec")) {
    context.report.error(childOf(definition, "type") ?? definition, {
      code: "conflicting-keys",
      message: `The type is "${type}", but the definition has ${kind}:`,
      hint: "type: may be left out.",
    });
  }
  return kind;
}

function conflictHint(kinds: readonly Kind[]): string {
  if (kinds.includes("exec")) return "Make the command a step of the list.";
  if (kinds.includes("parallel")) return "Make what runs at the same time an item of the list: - parallel: [...].";
  return "run is the new name of steps; keep one.";
}

function readType(context: CompileContext, definition: YamlMapping): "exec" | "steps" | "later" | undefined {
  const node = childOf(definition, "type");
  if (node === undefined) return undefined;
  const text = node.kind === "scalar" ? node.text : "";
  if (text === "exec" || text === "steps") return text;
  if (context.acceptsBaseline) {
    if (text === "0" || text === "definition_type_unspecified") return undefined;
    if (text === "1") return "exec";
    if (text === "2") return "steps";
  }
  const isLater = LATER_TYPES.includes(text);
  context.report.error(node, () => {
    const near = nearest(text, ["exec", "steps", "run"]);
    return {
      code: isLater ? "not-supported" : "unknown-type",
      message: isLater
        ? `The type "${text}" is not supported yet`
        : `Unknown type of definition: ${describeType(node)}`,
      hint:
        near === undefined || isLater ? "Types: exec, steps." : `Did you mean "${near === "run" ? "steps" : near}"?`,
    };
  });
  return isLater ? "later" : undefined;
}

function describeType(node: YamlNode): string {
  return node.kind === "scalar" ? `"${node.text.slice(0, 80)}"` : describeNode(node);
}

function refuseKeys(context: CompileContext, definition: YamlMapping, keys: readonly string[]): void {
  for (const name of keys) {
    const entry = definition.entries.get(name);
    if (entry === undefined) continue;
    context.report.error(entry.key, {
      code: "conflicting-keys",
      message: `${name} goes with run, not with exec`,
      hint: "A command writes its outputs to the file ${{ output_file }}.",
    });
  }
}

function readExec(context: CompileContext, node: YamlNode, pointer: string): Omit<ExecDefinition, "env"> {
  const nothing = { type: "exec", command: [] } as const;
  const exec = asMapping(context, node, "exec", "Write exec: {command: [program, argument]}.");
  if (exec === undefined) return nothing;
  const table = context.acceptsBaseline ? BASELINE_EXEC_KEYS : EXEC_KEYS;
  checkKeys(context, exec, table);
  const workDir = readWorkDir(context, exec, pointer);
  const times = { ...readTime(context, exec, "timeout"), ...readTime(context, exec, "cancel_timeout") };
  const command = childOf(exec, "command");
  if (command === undefined) {
    reportMissing(context, exec, { table, missing: ["command"], message: "exec has no command" });
    return nothing;
  }
  return {
    type: "exec",
    command: readCommand(context, command),
    ...(workDir === "" ? {} : { workDir }),
    ...times,
    ...readContextFile(context, exec),
  };
}

function readContextFile(context: CompileContext, exec: YamlMapping): Pick<ExecDefinition, "hasContextFile"> {
  const node = childOf(exec, "context_file") ?? (context.acceptsBaseline ? childOf(exec, "contextFile") : undefined);
  if (node === undefined) return {};
  if (node.kind === "scalar" && typeof node.value === "boolean") return node.value ? { hasContextFile: true } : {};
  wrongType(context, node, "context_file must be true or false", "The file is $STEP_JSON.");
  return {};
}

const TIMES = { timeout: "timeoutMs", cancel_timeout: "cancelTimeoutMs" } as const;

function readTime(
  context: CompileContext,
  exec: YamlMapping,
  key: keyof typeof TIMES,
): Pick<ExecDefinition, "timeoutMs" | "cancelTimeoutMs"> {
  const node = childOf(exec, key) ?? (key === "cancel_timeout" ? childOf(exec, "cancelTimeout") : undefined);
  const ms = node === undefined ? undefined : readDuration(context, node, { what: `exec: ${key}` });
  return ms === undefined ? {} : { [TIMES[key]]: ms };
}

const COLON_HINT = 'Quote it if it is a text with ": " in it.';

function readCommand(context: CompileContext, node: YamlNode): readonly string[] {
  if (node.kind !== "list" || node.items.length === 0) {
    const found = node.kind === "list" ? "an empty list" : describeNode(node);
    context.report.error(node, {
      code: node.kind === "list" ? "empty-command" : "wrong-type",
      message: `The command must be a list of a program and its arguments, found ${found}`,
      hint: node.kind === "list" ? undefined : 'Write ["program", "argument"]; for shell code use a step with script:.',
    });
    return [];
  }
  return node.items.map((item) => {
    const text = asText(context, item, "An item of the command", COLON_HINT) ?? "";
    checkTemplateNode(context, item);
    checkNul(context, item, text);
    return text;
  });
}

function readWorkDir(context: CompileContext, exec: YamlMapping, pointer: string): string {
  const spellings = WORK_DIR_KEYS.filter((key) => exec.entries.has(key));
  const [spelling, second] = spellings;
  if (spelling === undefined) return "";
  const { key, value } = exec.entries.get(spelling) as { key: YamlNode; value: YamlNode };
  context.places.set(`${pointer}/workDir`, value);
  if (second !== undefined) {
    context.report.error(exec.entries.get(second)?.key ?? exec, {
      code: "conflicting-keys",
      message: `${spelling} and ${second} are the same key`,
      hint: "Keep work_dir.",
    });
  } else if (spelling !== "work_dir" && !context.acceptsBaseline) {
    context.report.note(key, () => ({
      code: "old-key",
      message: `The key "${spelling}" is an old spelling`,
      hint: "Write work_dir.",
    }));
  }
  const text = asText(context, value, "work_dir") ?? "";
  checkTemplateNode(context, value);
  checkNul(context, value, text);
  return text;
}

function readSteps(
  context: CompileContext,
  definition: YamlMapping,
  { pointer, inline, list }: Place & { list: YamlNode | undefined },
): Omit<StepsDefinition, "env"> {
  const steps = list === undefined ? [] : readInvocations(context, list, { pointer: `${pointer}/steps`, inline });
  if (list?.kind === "list" && list.items.length === 0 && !context.acceptsBaseline) noteEmptyRun(context, list);
  const outputs = readOutputs(context, definition, pointer);
  const names = steps.map((step) => step.name);
  const delegate = readDelegate(context, definition, { pointer, names });
  const last = readFinally(context, definition, { pointer, inline, names });
  return { type: "steps", steps, outputs, delegate, ...last };
}

/** Reads the steps that run after a list of steps. They share one namespace with the steps of the list. */
function readFinally(
  context: CompileContext,
  definition: YamlMapping,
  { pointer, inline, names }: Place & { names: readonly string[] },
): Pick<StepsDefinition, "finally"> {
  const [key, second] = FINALLY_KEYS.filter((name) => definition.entries.has(name));
  if (key === undefined) return {};
  if (second !== undefined) {
    context.report.error(definition.entries.get(second)?.key ?? definition, {
      code: "conflicting-keys",
      message: `${key} and ${second} are the same key`,
      hint: "Keep finally.",
    });
  }
  const list = childOf(definition, key) as YamlNode;
  const steps = readInvocations(context, list, { pointer: `${pointer}/finally`, inline, taken: names });
  return steps.length === 0 ? {} : { finally: steps };
}

export function noteEmptyRun(context: CompileContext, list: YamlNode): void {
  context.report.note(list, () => ({ code: "empty-run", message: "The list of steps is empty, so nothing will run" }));
}

function readOutputs(context: CompileContext, definition: YamlMapping, pointer: string): Record<string, Value> {
  const outputs = createObject<Value>();
  const node = childOf(definition, "outputs");
  if (node === undefined || (node.kind === "scalar" && node.value === null)) return outputs;
  const mapping = asMapping(context, node, "outputs");
  if (mapping === undefined) return outputs;
  context.places.set(`${pointer}/outputs`, mapping);
  for (const [name, { key, value }] of mapping.entries) {
    checkName(context, key, { what: "an output" });
    context.places.set(`${pointer}/outputs/${escapePointer(name)}`, value);
    checkTemplates(context, value);
    outputs[name] = asValue(context, value);
  }
  return outputs;
}

function readDelegate(
  context: CompileContext,
  definition: YamlMapping,
  { pointer, names }: { pointer: string; names: readonly string[] },
): string | undefined {
  const node = childOf(definition, "delegate");
  if (node === undefined) return undefined;
  context.places.set(`${pointer}/delegate`, node);
  const name = asString(context, node, "delegate");
  if (name === undefined || (name === "" && context.acceptsBaseline)) return undefined;
  if (node.kind === "scalar" && refuseExpression(context, node, "delegate")) return name;
  if (name === "" || !names.includes(name)) {
    context.report.error(node, () => {
      const near = nearest(name, names.filter(Boolean));
      return {
        code: "invalid-delegate",
        message: `No step of the list has the name "${name.slice(0, 80)}"`,
        hint: near === undefined ? "Give the step a name: and write it here." : `Did you mean "${near}"?`,
      };
    });
  }
  return name;
}
