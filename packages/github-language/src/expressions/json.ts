import { createObject, type Value } from "@steps/model";
import { type Budget, spendBytes, spendEffort, spendText } from "./budget.ts";
import { Failure } from "./error.ts";
import { expressionLimits } from "./limits.ts";
import { type Data, foldCase, isPrimitive, itemsOf, textOf } from "./operators.ts";

/** `toJSON()`: two spaces for each level, numbers as they are in texts. @throws {Failure} */
export function writeJson(data: Data, budget: Budget): string {
  const pieces: string[] = [];
  write(data, 0, (piece) => {
    spendEffort(budget, piece.length);
    spendBytes(budget, piece.length * 2);
    pieces.push(piece);
  });
  return pieces.join("");
}

function write(data: Data | undefined, level: number, put: (piece: string) => void): void {
  if (data === null || data === undefined) return put("null");
  if (typeof data === "string") return put(quote(data));
  if (isPrimitive(data)) return put(textOf(data));
  if (level >= expressionLimits.maxValueDepth) throw tooDeep();
  const items = itemsOf(data);
  const members = items === undefined ? Object.entries(data as { [key: string]: Value }) : items.entries();
  let separator = items === undefined ? "{" : "[";
  for (const [key, value] of members) {
    put(`${separator}\n${"  ".repeat(level + 1)}`);
    if (items === undefined) put(`${quote(String(key))}: `);
    write(value, level + 1, put);
    separator = ",";
  }
  const close = items === undefined ? "}" : "]";
  put(separator === "," ? `\n${"  ".repeat(level)}${close}` : separator + close);
}

// The runner also escapes what some readers take for a line's end.
function quote(text: string): string {
  const quoted = JSON.stringify(text);
  return /[\u0085\u2028\u2029]/.test(quoted) ? quoted.replaceAll(/[\u0085\u2028\u2029]/g, escapeUnit) : quoted;
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

/** `fromJSON()`. Among keys that differ only in case, the last value is kept under the first name. @throws {Failure} */
export function readJson(text: string, budget: Budget): Value {
  if (text.trim() === "") throw new Failure("INVALID_ARGUMENT", '"fromJSON" was given an empty text');
  spendEffort(budget, text.length);
  // The parser knows no limit; what it makes is only paid for afterwards.
  if (text.length * 2 > budget.bytesLeft) spendText(budget, text.length);
  return rebuild(parse(text), 0, budget);
}

function parse(text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch (error) {
    // The engine's message quotes the text, which may be a secret; only the place is passed on.
    const place = /position \d+/.exec(error instanceof Error ? error.message : "")?.[0];
    const where = place === undefined ? "" : `, at ${place}`;
    throw new Failure("INVALID_ARGUMENT", `"fromJSON" was given a text that is not JSON${where}`);
  }
}

function rebuild(value: Value, level: number, budget: Budget): Value {
  spendEffort(budget, 1);
  if (typeof value === "string") spendBytes(budget, value.length * 2);
  if (isPrimitive(value)) return value;
  if (level >= expressionLimits.maxValueDepth) throw tooDeep();
  spendBytes(budget, 24);
  if (Array.isArray(value)) return value.map((item) => rebuild(item, level + 1, budget));
  const names = new Map<string, string>();
  const object = createObject<Value>();
  for (const [key, member] of Object.entries(value)) {
    spendBytes(budget, 16 + key.length * 2);
    const folded = foldCase(key, budget);
    const name = names.get(folded) ?? key;
    names.set(folded, name);
    object[name] = rebuild(member, level + 1, budget);
  }
  return object;
}

function tooDeep(): Failure {
  const message = `The value is nested more than ${expressionLimits.maxValueDepth} levels deep`;
  return new Failure("VALUE_TOO_DEEP", message);
}
