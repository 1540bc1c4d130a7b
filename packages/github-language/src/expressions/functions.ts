import { messageOf } from "@steps/model";
import { type Budget, spendBytes, spendEffort, spendText } from "./budget.ts";
import { Failure } from "./error.ts";
import type { Evaluation } from "./evaluation.ts";
import { formatText } from "./format.ts";
import { readJson, writeJson } from "./json.ts";
import type { Node } from "./node.ts";
import { areEqual, type Data, foldCase, isPrimitive, itemsOf, textOf } from "./operators.ts";

/** One call: its arguments are evaluated when the function asks, at most once each. */
export interface Call {
  readonly args: readonly Node[];
  readonly evaluation: Evaluation;
  evaluate(argument: Node): Data;
}

/** All functions, by their names in lower case. That a call has the right number of arguments is known before. */
export const functions: ReadonlyMap<string, (call: Call) => Data> = new Map([
  ["case", chooseCase],
  ["contains", contains],
  ["endswith", (call) => matchesEdge(call, (text, length) => text.slice(Math.max(0, text.length - length)))],
  ["format", format],
  ["fromjson", fromJson],
  ["join", join],
  ["startswith", (call) => matchesEdge(call, (text, length) => text.slice(0, length))],
  ["tojson", toJson],
  ["hashfiles", hashFiles],
  ["success", ({ evaluation }) => evaluation.status?.isSuccess ?? false],
  ["failure", ({ evaluation }) => evaluation.status?.isFailure ?? false],
  ["cancelled", ({ evaluation }) => evaluation.status?.isCancelled ?? false],
  ["always", () => true],
]);

function argument(call: Call, index: number): Data {
  const node = call.args[index];
  return node === undefined ? null : call.evaluate(node);
}

function chooseCase(call: Call): Data {
  const last = call.args.length - 1;
  for (let i = 0; i < last; i += 2) {
    const condition = argument(call, i);
    if (typeof condition !== "boolean") {
      const message = `Argument ${i + 1} of "case" has to be true or false`;
      throw new Failure("INVALID_ARGUMENT", message, { hint: "Compare it with something: case(x == 'a', ...)" });
    }
    if (condition) return argument(call, i + 1);
  }
  return argument(call, last);
}

function contains(call: Call): boolean {
  const { budget } = call.evaluation;
  const searched = argument(call, 0);
  const items = itemsOf(searched);
  if (items !== undefined) {
    const wanted = argument(call, 1);
    spendEffort(budget, items.length);
    return items.some((item) => areEqual(wanted, item, budget));
  }
  if (!isPrimitive(searched)) return false;
  const wanted = argument(call, 1);
  return isPrimitive(wanted) && includesText(textOf(searched), textOf(wanted), budget);
}

// The engine's search shifts by 250 at most, so that a long needle can cost the product of both lengths.
const SEARCH_SHIFT = 250;

function includesText(text: string, wanted: string, budget: Budget): boolean {
  if (wanted.length > text.length) return false;
  spendEffort(budget, text.length * Math.ceil(wanted.length / SEARCH_SHIFT));
  return foldCase(text, budget).includes(foldCase(wanted, budget));
}

function matchesEdge(call: Call, edgeOf: (text: string, length: number) => string): boolean {
  const { budget } = call.evaluation;
  const searched = argument(call, 0);
  if (!isPrimitive(searched)) return false;
  const wanted = argument(call, 1);
  if (!isPrimitive(wanted)) return false;
  const edge = textOf(wanted);
  const found = edgeOf(textOf(searched), edge.length);
  return found.length === edge.length && foldCase(found, budget) === foldCase(edge, budget);
}

function format(call: Call): string {
  const texts = new Map<number, string>();
  const textOfArgument = (index: number): string | undefined => {
    if (index >= call.args.length - 1) return undefined;
    const text = texts.get(index) ?? textOf(argument(call, index + 1));
    texts.set(index, text);
    return text;
  };
  return formatText(textOf(argument(call, 0)), textOfArgument, call.evaluation.budget);
}

function join(call: Call): string {
  const { budget } = call.evaluation;
  const joined = argument(call, 0);
  const items = itemsOf(joined);
  if (items === undefined) return isPrimitive(joined) ? textOf(joined) : "";
  const given = items.length > 1 && call.args.length > 1 ? argument(call, 1) : ",";
  const separator = isPrimitive(given) ? textOf(given) : ",";
  const pieces: string[] = [];
  let length = 0;
  for (const item of items) {
    const piece = textOf(item);
    length += piece.length + separator.length;
    // Checked on the way, paid for at the end: a short item must not cost what a string of its own does.
    if (length * 2 > budget.bytesLeft) spendText(budget, length);
    pieces.push(piece);
  }
  spendEffort(budget, length);
  spendText(budget, length);
  return pieces.join(separator);
}

function toJson(call: Call): string {
  return writeJson(argument(call, 0), call.evaluation.budget);
}

function fromJson(call: Call): Data {
  return readJson(textOf(argument(call, 0)), call.evaluation.budget);
}

function hashFiles(call: Call): string {
  const patterns = call.args.map((pattern) => textOf(call.evaluate(pattern)));
  try {
    const digest = call.evaluation.hashFiles?.(patterns) ?? "";
    spendBytes(call.evaluation.budget, digest.length * 2);
    return digest;
  } catch (error) {
    if (error instanceof Failure) throw error;
    const message = `Cannot hash the files: ${messageOf(error).slice(0, 300)}`;
    throw new Failure("FUNCTION_FAILED", message, { cause: error });
  }
}
