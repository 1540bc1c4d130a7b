import { checkTemplate } from "@steps/expression";
import { findNames } from "@steps/expression/names";
import type { StepControl } from "@steps/model/definition";
import { childOf, describeNode, type YamlMapping, type YamlNode } from "@steps/source";
import { checkTemplateNode, holdsExpression, warnOfMismatches } from "../texts/check-template.ts";
import { asText, checkKeys, type CompileContext } from "../context.ts";
import { CONTINUE_KEYS, MAX_BACKOFF_MS, MAX_RETRIES, RETRY_KEYS, WHEN } from "../keys/control-keys.ts";
import { readDuration } from "../texts/read-duration.ts";

const OPENING = "${{ ";

/** Reads an item's condition, `continue_on_error`, timeout and retries; `undefined` when it has none of them. */
export function readControl(context: CompileContext, item: YamlMapping, pointer: string): StepControl | undefined {
  const given = childOf(item, "control");
  if (given !== undefined && context.acceptsBaseline) return readBaselineControl(context, given, pointer);
  const condition = readCondition(context, item, `${pointer}/control/condition`);
  const continueOnError = readContinue(context, item);
  const timeout = childOf(item, "timeout");
  const timeoutMs = timeout === undefined ? undefined : readDuration(context, timeout, { what: "timeout" });
  const retry = readRetry(context, childOf(item, "retry"));
  const control: StepControl = {
    condition,
    ...(continueOnError ? { continueOnError } : {}),
    timeoutMs,
    retry,
  };
  return Object.values(control).every((value) => value === undefined) ? undefined : control;
}

// A baseline message says the same in one member, with a condition that is a template already.
function readBaselineControl(context: CompileContext, node: YamlNode, pointer: string): StepControl | undefined {
  if (node.kind !== "mapping") return undefined;
  const entries = new Map(node.entries);
  for (const [name, key] of [
    ["condition", "if"],
    ["continueOnError", "continue_on_error"],
  ] as const) {
    const entry = entries.get(name);
    if (entry !== undefined) entries.set(key, entry);
  }
  entries.delete("control");
  return readControl(context, { ...node, entries }, pointer);
}

function readCondition(context: CompileContext, item: YamlMapping, pointer: string): string | undefined {
  const when = readWhen(context, item);
  const node = childOf(item, "if");
  if (node === undefined) return when === undefined ? undefined : `${OPENING}${when} }}`;
  context.places.set(pointer, node);
  const text = asText(context, node, "if");
  if (text === undefined) return undefined;
  if (text.trim() === "") {
    context.report.error(node, { code: "empty-condition", message: "if: has no expression" });
    return undefined;
  }
  if (!holdsExpression(text)) {
    checkBare(context, node, text);
    return when === undefined ? `${OPENING}${text} }}` : `${OPENING}${when} && (${text}) }}`;
  }
  checkTemplateNode(context, node);
  if (when === undefined) return text;
  context.report.error(node, {
    code: "conflicting-keys",
    message: "if: with ${{ }} and when: cannot be combined",
    hint: `Write if: ${when} && … without \${{ }}.`,
  });
  return undefined;
}

// A bare expression is checked as the template it becomes; places count from its own start.
function checkBare(context: CompileContext, node: YamlNode, text: string): void {
  const template = `${OPENING}${text} }}`;
  for (const { message, hint, offset, length } of checkTemplate(template)) {
    const part = { offset: Math.max(0, offset - OPENING.length), length: Math.min(length, text.length) };
    context.report.error(node, { code: "invalid-expression", message, hint, part });
  }
  context.names?.set(template, findNames(template));
  warnOfMismatches(context, node, template, OPENING.length);
}

function readWhen(context: CompileContext, item: YamlMapping): string | undefined {
  const node = childOf(item, "when");
  const text = node === undefined ? undefined : asText(context, node, "when");
  if (node === undefined || text === undefined) return undefined;
  if (Object.hasOwn(WHEN, text)) return WHEN[text];
  context.report.error(node, () => ({
    code: "invalid-value",
    message: `Unknown value of when: "${text.slice(0, 80)}"`,
    hint: `It takes ${Object.keys(WHEN).join(", ")}; if: takes any condition.`,
  }));
  return undefined;
}

function readContinue(context: CompileContext, item: YamlMapping): boolean {
  const [key, second] = CONTINUE_KEYS.filter((name) => item.entries.has(name));
  if (key === undefined) return false;
  if (second !== undefined) {
    context.report.error(item.entries.get(second)?.key ?? item, {
      code: "conflicting-keys",
      message: `${key} and ${second} are the same key`,
      hint: "Keep continue_on_error.",
    });
  }
  const node = childOf(item, key) as YamlNode;
  if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
  context.report.error(node, () => ({
    code: "wrong-type",
    message: `${key} must be true or false, found ${describeNode(node)}`,
  }));
  return false;
}

function readRetry(context: CompileContext, node: YamlNode | undefined): StepControl["retry"] {
  if (node === undefined) return undefined;
  if (node.kind !== "mapping") return retryOf(readCount(context, node), 0);
  checkKeys(context, node, RETRY_KEYS);
  const max = childOf(node, "max");
  if (max === undefined) {
    const hint = "Write retry: {max: 2}.";
    context.report.error(node, { code: "missing-key", message: "retry has no max", hint });
  }
  const backoff = childOf(node, "backoff");
  const limits = { what: "backoff", maxMs: MAX_BACKOFF_MS };
  const backoffMs = backoff === undefined ? 0 : readDuration(context, backoff, limits);
  return retryOf(max === undefined ? 0 : readCount(context, max), backoffMs ?? 0);
}

function retryOf(max: number, backoffMs: number): StepControl["retry"] {
  return max === 0 ? undefined : { max, backoffMs };
}

function readCount(context: CompileContext, node: YamlNode): number {
  const value = node.kind === "scalar" ? node.value : undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_RETRIES) return value;
  context.report.error(node, () => ({
    code: "wrong-type",
    message: `retry must be a whole number from 0 to ${MAX_RETRIES}, found ${describeNode(node)}`,
    hint: "It is how often the step is tried again: retry: 2, or retry: {max: 2, backoff: 1s}.",
  }));
  return 0;
}
