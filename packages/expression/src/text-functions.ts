import type { RuntimeValue } from "@steps/model";
import { formatValue } from "@steps/model/value";
import { type Budget, spend, spendText } from "./budget.ts";
import { unmark } from "./compare.ts";
import { ExpressionError } from "./error.ts";
import { argumentError, type CallContext, type FunctionTable, stringArgument } from "./function.ts";
import { limits } from "./limits.ts";
import { findAll } from "./search.ts";
import { formatText } from "./text.ts";

/** `startsWith`, `endsWith`, `join`, `split`, `trim`, `lower`, `upper`, `replace`. */
export const textFunctions: FunctionTable = {
  startsWith: {
    minArgs: 2,
    maxArgs: 2,
    call: (args, { budget }) => startsWith(args, budget, (text, part) => text.startsWith(part)),
  },
  endsWith: {
    minArgs: 2,
    maxArgs: 2,
    call: (args, { budget }) => startsWith(args, budget, (text, part) => text.endsWith(part)),
  },
  join: { minArgs: 1, maxArgs: 2, call: join },
  split: { minArgs: 2, maxArgs: 2, call: split },
  trim: { minArgs: 1, maxArgs: 1, call: (args, { budget }) => convert(args, budget, (text) => text.trim()) },
  lower: { minArgs: 1, maxArgs: 1, call: (args, { budget }) => convert(args, budget, (text) => text.toLowerCase()) },
  upper: { minArgs: 1, maxArgs: 1, call: (args, { budget }) => convert(args, budget, (text) => text.toUpperCase()) },
  replace: { minArgs: 3, maxArgs: 3, call: replace },
};

function startsWith(
  args: readonly RuntimeValue[],
  budget: Budget,
  test: (text: string, part: string) => boolean,
): boolean {
  const text = stringArgument(args, 0);
  const part = stringArgument(args, 1);
  spend(budget, Math.min(text.length, part.length));
  return test(text, part);
}

function convert(args: readonly RuntimeValue[], budget: Budget, change: (text: string) => string): string {
  const text = stringArgument(args, 0);
  spend(budget, text.length);
  const result = change(text);
  spendText(budget, result.length);
  return result;
}

function join(args: readonly RuntimeValue[], { budget }: CallContext): string {
  const items = unmark(args[0] as RuntimeValue);
  if (!Array.isArray(items)) throw argumentError(items, 0, "an array");
  const separator = args.length > 1 ? stringArgument(args, 1) : ",";
  const texts: string[] = [];
  let length = 0;
  for (const item of items) {
    if (unmark(item) === null) {
      throw new ExpressionError("NULL_IN_TEXT", "Cannot join null", { hint: "Wrap the item in str()." });
    }
    const { text } = formatText(item, { budget });
    const added = text.length + (texts.length > 0 ? separator.length : 0);
    length += added;
    spendText(budget, added, length);
    texts.push(text);
  }
  return texts.join(separator);
}

function split(args: readonly RuntimeValue[], { budget }: CallContext): string[] {
  const text = stringArgument(args, 0);
  const separator = stringArgument(args, 1);
  if (separator === "") throw new ExpressionError("INVALID_ARGUMENT", "Cannot split: the separator is empty");
  spend(budget, text.length + separator.length);
  const items: string[] = [];
  let from = 0;
  for (const at of findAll(text, separator)) {
    items.push(text.slice(from, at));
    from = at + separator.length;
    if (items.length >= limits.maxItems) {
      throw new ExpressionError("TEXT_TOO_LARGE", `Cannot split: there are more than ${limits.maxItems} items`);
    }
  }
  items.push(text.slice(from));
  spend(budget, items.length * 64);
  return items;
}

function replace(args: readonly RuntimeValue[], { budget }: CallContext): string {
  const text = stringArgument(args, 0);
  const part = stringArgument(args, 1);
  const replacement = stringArgument(args, 2);
  if (part === "") throw new ExpressionError("INVALID_ARGUMENT", "Cannot replace: the text to look for is empty");
  spend(budget, text.length + part.length);
  let length = text.length;
  let count = 0;
  for (const at of findAll(text, part)) {
    void at;
    count++;
    length += replacement.length - part.length;
  }
  if (count === 0) return text;
  spendText(budget, length);
  const pieces: string[] = [];
  let from = 0;
  for (const at of findAll(text, part)) {
    pieces.push(text.slice(from, at));
    from = at + part.length;
  }
  pieces.push(text.slice(from));
  return pieces.join(replacement);
}

/** The text of `str()`: that of a value, and `<null>` for null. */
export function stringForm(value: RuntimeValue, budget: Budget): string {
  const plain = unmark(value);
  if (plain === null) return "<null>";
  return typeof plain === "boolean" ? formatValue(plain) : formatText(plain, { budget }).text;
}
