import { expandText } from "../expand-text.ts";

/** The variables that functions of `$[[ ]]` may read. */
export interface FunctionContext {
  /** The variables that an include may use. */
  readonly variables: Readonly<Record<string, string>>;
  /** The names of those that are masked, which no input may show. */
  readonly masked: ReadonlySet<string>;
}

/** The value of a call, or the reason why there is none. */
export type FunctionResult = { readonly value: string | readonly string[] } | { readonly problem: string };

type CiFunction = (text: string, args: readonly string[], context: FunctionContext) => FunctionResult;

interface Signature {
  readonly pattern: RegExp;
  readonly call: CiFunction;
}

/** The functions of GitLab, by name; each takes a text. */
const FUNCTIONS: Readonly<Record<string, Signature>> = {
  expand_vars: { pattern: /^expand_vars$/, call: expandVars },
  posix_escape: { pattern: /^posix_escape$/, call: (text) => ({ value: escapeForShell(text) }) },
  split: { pattern: /^split\('([^']*)'\)$/, call: split },
  truncate: { pattern: /^truncate\(\s*(\d+)\s*,\s*(\d+)\s*\)$/, call: truncate },
};

/** The names of all functions. */
export const FUNCTION_NAMES: readonly string[] = Object.keys(FUNCTIONS);

/** Calls one function as it is written behind a `|`: `truncate(0, 8)`. */
export function callFunction(
  call: string,
  value: string | readonly string[] | undefined,
  context: FunctionContext,
): FunctionResult {
  const name = /^\w*/.exec(call)?.[0] ?? "";
  const signature = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (signature === undefined) return { problem: `there is no function "${call.slice(0, 80)}"` };
  const match = signature.pattern.exec(call);
  if (match === null) return { problem: `the arguments of "${name}" are not what it takes` };
  if (typeof value !== "string") return { problem: `"${name}" takes only a text` };
  return signature.call(value, match.slice(1), context);
}

function expandVars(text: string, _: readonly string[], { variables, masked }: FunctionContext): FunctionResult {
  const shown: string[] = [];
  const value = expandText(text, (name) => {
    if (masked.has(name)) shown.push(name);
    return Object.hasOwn(variables, name) ? variables[name] : undefined;
  });
  if (shown.length > 0) return { problem: `"expand_vars" would show the masked variable "${shown[0]}"` };
  return { value };
}

function truncate(text: string, [offset, length]: readonly string[]): FunctionResult {
  const start = Number(offset);
  return {
    value: Array.from(text)
      .slice(start, start + Number(length))
      .join(""),
  };
}

function split(text: string, [separator = ""]: readonly string[]): FunctionResult {
  if (separator === "") return { problem: `the separator of "split" is empty` };
  const parts = text.split(separator).map((part) => part.trim());
  return { value: parts.filter((part) => part !== "") };
}

/** The text as one word of a POSIX shell, as Ruby's Shellwords has it: a backslash before each unusual character. */
function escapeForShell(text: string): string {
  if (text === "") return "''";
  return text.replaceAll(/[^A-Za-z0-9_\-.,:+/@\n]/gu, String.raw`\$&`).replaceAll("\n", "'\n'");
}
