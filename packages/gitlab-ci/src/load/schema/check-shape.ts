import { nearest, quote } from "@steps/model/diagnostic";
import type { YamlNode } from "@steps/source";
import { readPsychScalar } from "../../psych.ts";
import { readCommands } from "../../read-commands.ts";
import { readVariables } from "../../variables/read-variables.ts";
import type { CiReport } from "../../ci-rules.ts";
import { isList, isMapping, isNull, madeText } from "../nodes.ts";
import { listOf, type ListShape, type MappingShape, type Shape, type TextShape } from "./shape.ts";

/** Compares values with shapes and reports what does not fit. A value that several jobs share is looked at once. */
export interface ShapeChecker {
  readonly report: CiReport;
  /** `name` is how messages call the value: `artifacts:paths`. */
  readonly check: (node: YamlNode, shape: Shape, name: string) => void;
}

/** Makes the checker of one pipeline. */
export function createShapeChecker(report: CiReport): ShapeChecker {
  const seen = new Map<YamlNode, Set<Shape>>();
  const checker: ShapeChecker = {
    report,
    check: (node, shape, name) => {
      const shapes = seen.get(node) ?? new Set();
      if (shapes.has(shape)) return;
      seen.set(node, shapes.add(shape));
      checkShape(node, { shape, name }, checker);
    },
  };
  return checker;
}

interface Wanted<S extends Shape = Shape> {
  readonly shape: S;
  readonly name: string;
}

function checkShape(node: YamlNode, { shape, name }: Wanted, checker: ShapeChecker): void {
  // A reference that is still there was reported.
  if (node.tag !== undefined || isNull(node) || shape.is === "any") return;
  if (shape.is === "commands") {
    readCommands(name, node, checker.report);
    return;
  }
  if (shape.is === "variables") {
    readVariables(node, shape.scope, checker.report);
    return;
  }
  if (shape.is === "either") {
    const fitting = shape.of.find((one) => fits(node, one));
    if (fitting === undefined) reportKind(node, { shape, name }, checker);
    else checkShape(node, { shape: fitting, name }, checker);
    return;
  }
  if (!fits(node, shape)) reportKind(node, { shape, name }, checker);
  else checkParts(node, { shape, name }, checker);
}

function checkParts(node: YamlNode, { shape, name }: Wanted, checker: ShapeChecker): void {
  if (shape.is === "list") checkItems(node, { shape, name }, checker);
  else if (shape.is === "mapping") checkKeys(node, { shape, name }, checker);
  else if (shape.is === "text") checkText(node, { shape, name }, checker);
  else if (shape.is === "map" && isMapping(node)) {
    for (const [key, { value }] of node.entries) checker.check(value, shape.of, `${name}:${key}`);
  } else if (shape.is === "number" && node.kind === "scalar") {
    const value = Number(readPsychScalar(node).text);
    if (value < shape.min || value > shape.max) reportKind(node, { shape, name }, checker);
  }
}

function fits(node: YamlNode, shape: Shape): boolean {
  switch (shape.is) {
    case "any":
      return true;
    case "list":
      return isList(node);
    case "map":
    case "mapping":
    case "variables":
      return isMapping(node);
    case "commands":
      return !isMapping(node);
    case "either":
      return shape.of.some((one) => fits(node, one));
    case "text":
      return kindOf(node) === "string";
    case "boolean":
      return kindOf(node) === "boolean";
    case "number":
      return kindOf(node) === "integer";
  }
}

function kindOf(node: YamlNode): string {
  return node.kind === "scalar" ? readPsychScalar(node).kind : node.kind;
}

function checkItems(node: YamlNode, { shape, name }: Wanted<ListShape>, checker: ShapeChecker): void {
  if (!isList(node)) return;
  const { of, isFilled = false, max = Infinity, isNested = false } = shape;
  if (isFilled && node.items.length === 0) {
    checker.report.error(node, { code: "wrong-type", message: `${quote(name)} is an empty list` });
  }
  if (node.items.length > max) {
    checker.report.error(node, { code: "wrong-type", message: `${quote(name)} has more than ${max} items` });
  }
  for (const item of node.items) {
    if (isNested && isList(item)) checker.check(item, isFilled ? listOf(of, { isNested }) : shape, name);
    else if (isNull(item)) reportKind(item, { shape: of, name: `an item of "${name}"` }, checker);
    else checker.check(item, of, name);
  }
}

function checkKeys(node: YamlNode, { shape, name }: Wanted<MappingShape>, checker: ShapeChecker): void {
  if (!isMapping(node)) return;
  const { report } = checker;
  const { keys, required } = shape;
  for (const [key, entry] of node.entries) {
    const inner = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (inner !== undefined) checker.check(entry.value, inner, `${name}:${key}`);
    else reportUnknownKey(entry.key, { owner: quote(name), key, known: Object.keys(keys) }, report);
  }
  const missing = required.find((key) => !node.entries.has(key));
  if (missing !== undefined) report.error(node, { code: "missing-key", message: `${quote(name)} has no "${missing}"` });
}

/** Reports a key that is not one of those that are known, with the nearest of them. */
export function reportUnknownKey(
  at: YamlNode,
  { owner, key, known }: { readonly owner: string; readonly key: string; readonly known: readonly string[] },
  report: CiReport,
): void {
  report.error(at, () => {
    const guess = nearest(key, known);
    return {
      code: "unknown-key",
      message: `${owner} has an unknown key: ${quote(key)}`,
      hint: guess === undefined ? undefined : `Did you mean "${guess}"?`,
    };
  });
}

function checkText(node: YamlNode, { shape, name }: Wanted<TextShape>, checker: ShapeChecker): void {
  const { values, takesVariables = false } = shape;
  if (values === undefined || node.kind !== "scalar") return;
  const { text } = readPsychScalar(node);
  if (values.includes(text) || (takesVariables && text.includes("$"))) return;
  checker.report.error(node, () => {
    const guess = nearest(text, values);
    return {
      code: "invalid-value",
      message: `${quote(name)} cannot be ${quote(text)}`,
      hint: guess === undefined ? `It is one of ${values.join(", ")}.` : `Did you mean "${guess}"?`,
    };
  });
}

function reportKind(node: YamlNode, { shape, name }: Wanted, { report }: ShapeChecker): void {
  report.error(node, () => {
    const wantsText = fits(madeText("", node), shape);
    return {
      code: "wrong-type",
      message: `${name.startsWith("an item") ? name : quote(name)} takes ${describe(shape)}, found ${describeFound(node)}`,
      hint: wantsText && node.kind === "scalar" && !isNull(node) ? "Quote it." : undefined,
    };
  });
}

function describe(shape: Shape): string {
  switch (shape.is) {
    case "any":
      return "anything";
    case "list":
      return shape.of.is === "text" ? "a list of texts" : "a list";
    case "map":
    case "mapping":
    case "variables":
      return "a mapping";
    case "commands":
      return "a text or a list of texts";
    case "either":
      return shape.of.map(describe).join(" or ");
    case "text":
      return shape.values === undefined ? "a text" : `one of ${shape.values.join(", ")}`;
    case "boolean":
      return "true or false";
    case "number":
      return `a whole number from ${shape.min} to ${shape.max}`;
  }
}

function describeFound(node: YamlNode): string {
  if (node.kind !== "scalar") return `a ${node.kind}`;
  const { kind, text } = readPsychScalar(node);
  if (kind === "null") return "nothing";
  if (kind === "string") return "a text";
  if (kind === "date") return "a date";
  return kind === "boolean" ? text : `the number ${text.slice(0, 40)}`;
}
