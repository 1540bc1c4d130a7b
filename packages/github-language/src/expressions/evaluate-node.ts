import type { Value } from "@steps/model";
import { spendBytes, spendEffort } from "./budget.ts";
import { failureAt } from "./error.ts";
import { type Evaluation, lookUp, readContext } from "./evaluation.ts";
import { functions } from "./functions.ts";
import type { CallNode, CompareNode, ContextNode, IndexNode, LogicNode, Node } from "./node.ts";
import {
  areEqual,
  compare,
  type Data,
  FilteredArray,
  isPrimitive,
  isTruthy,
  itemsOf,
  numberOf,
  textOf,
} from "./operators.ts";

/** The value of an expression whose names exist. @throws {Failure} */
export function evaluateNode(node: Node, evaluation: Evaluation): Data {
  const data = computeNode(node, evaluation);
  evaluation.trace?.set(node, data);
  return data;
}

function computeNode(node: Node, evaluation: Evaluation): Data {
  spendEffort(evaluation.budget, 1);
  switch (node.type) {
    case "literal":
      return node.value;
    case "context":
      return evaluateContext(node, evaluation);
    case "index":
      return evaluateIndex(node, evaluation);
    case "call":
      return evaluateCall(node, evaluation);
    case "not":
      return !isTruthy(evaluateNode(node.operand, evaluation));
    case "compare":
      return evaluateComparison(node, evaluation);
    case "logic":
      return evaluateLogic(node, evaluation);
  }
}

function evaluateContext(node: ContextNode, evaluation: Evaluation): Data {
  try {
    return readContext(evaluation, node.name);
  } catch (error) {
    throw failureAt(error, node.offset, node.length);
  }
}

function evaluateCall(node: CallNode, evaluation: Evaluation): Data {
  const call = functions.get(node.name);
  if (call === undefined) return null;
  try {
    return call({ args: node.args, evaluate: (argument) => evaluateNode(argument, evaluation), evaluation });
  } catch (error) {
    throw failureAt(error, node.offset, node.length);
  }
}

function evaluateComparison(node: CompareNode, evaluation: Evaluation): boolean {
  const left = evaluateNode(node.left, evaluation);
  const right = evaluateNode(node.right, evaluation);
  if (node.operator === "==") return areEqual(left, right, evaluation.budget);
  if (node.operator === "!=") return !areEqual(left, right, evaluation.budget);
  return compare(node.operator, left, right, evaluation.budget);
}

// The value is that of the operand that decides, not a boolean.
function evaluateLogic({ operator, operands }: LogicNode, evaluation: Evaluation): Data {
  let data: Data = null;
  for (const operand of operands) {
    data = evaluateNode(operand, evaluation);
    if (isTruthy(data) === (operator === "||")) return data;
  }
  return data;
}

function evaluateIndex(node: IndexNode, evaluation: Evaluation): Data {
  const object = evaluateNode(node.object, evaluation);
  const key = node.key === "*" ? "*" : { data: evaluateNode(node.key, evaluation) };
  if (object instanceof FilteredArray) return indexEach(object, key, evaluation);
  if (key === "*") return isPrimitive(object) ? filter([], evaluation) : filter(valuesOf(object), evaluation);
  return isPrimitive(object) ? null : (indexOne(object, key.data, evaluation) ?? null);
}

type Key = "*" | { readonly data: Data };
type Collection = Value[] | { [key: string]: Value };

// A filter goes on through the items; those that have nothing under the key are left out.
function indexEach(array: FilteredArray, key: Key, evaluation: Evaluation): FilteredArray {
  const found: Value[] = [];
  for (const item of array.items) {
    spendEffort(evaluation.budget, 1);
    if (item === null || typeof item !== "object") continue;
    const hits = key === "*" ? valuesOf(item) : [indexOne(item, key.data, evaluation)];
    for (const hit of hits) {
      if (hit === undefined) continue;
      spendBytes(evaluation.budget, 8);
      found.push(hit);
    }
  }
  return new FilteredArray(found);
}

function filter(values: readonly Value[], evaluation: Evaluation): FilteredArray {
  spendBytes(evaluation.budget, 24 + values.length * 8);
  return new FilteredArray(values);
}

function valuesOf(collection: Collection): readonly Value[] {
  return Array.isArray(collection) ? collection : Object.values(collection);
}

function indexOne(collection: Collection, key: Data, evaluation: Evaluation): Value | undefined {
  if (!Array.isArray(collection)) {
    return isPrimitive(key) ? lookUp(evaluation, collection, textOf(key)) : undefined;
  }
  if (itemsOf(key) !== undefined) return undefined;
  if (typeof key === "string") spendEffort(evaluation.budget, key.length);
  const index = Math.floor(numberOf(key));
  return index >= 0 && index < collection.length ? (collection[index] ?? null) : undefined;
}
