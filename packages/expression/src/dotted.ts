import { type RuntimeValue, Sensitive } from "@steps/model";
import type { UnknownKeyReader } from "./access.ts";
import { ExpressionError, hintNames, hintRoot, shorten } from "./error.ts";
import { RESERVED_WORDS } from "./parser.ts";
import type { Scope } from "./scope.ts";

// A name of the old language: hyphens and inner spaces were allowed, since only the dots split it.
const NAME = "[A-Za-z_][A-Za-z0-9_-]*(?: +[A-Za-z0-9_-]+)*";
const DOTTED = new RegExp(`[ \\t\\r\\n]*(${NAME}(?:\\.${NAME})*)[ \\t\\r\\n]*\\}\\}`, "y");

/**
 * Returns the names of a dotted expression after a `${{`, with the offset behind its `}}` (conformance section 20 C4).
 */
export function matchDotted(source: string, offset: number): { names: readonly string[]; end: number } | undefined {
  DOTTED.lastIndex = offset;
  const text = DOTTED.exec(source)?.[1];
  if (text === undefined) return undefined;
  const names = text.split(".");
  // No context was ever called by a reserved word, so that `${{ if }}` can be refused before it is evaluated.
  if (RESERVED_WORDS.has((names[0] as string).split(/[ -]/, 1)[0] as string)) return undefined;
  return { names, end: DOTTED.lastIndex };
}

/** Looks names up one inside the other. @throws {ExpressionError} UNKNOWN_NAME, UNKNOWN_KEY, TYPE_MISMATCH */
export function lookUpDotted(
  names: readonly string[],
  { scope, onUnknownKey }: { readonly scope: Scope; readonly onUnknownKey?: UnknownKeyReader | undefined },
): RuntimeValue {
  const [root, ...keys] = names as [string, ...string[]];
  let value = scope.get(root);
  if (value === undefined) {
    throw new ExpressionError("UNKNOWN_NAME", `Unknown name "${shorten(root)}"`, {
      hint: hintRoot(root, scope.names()),
    });
  }
  let isMarked = false;
  let path = root;
  for (const key of keys) {
    if (value instanceof Sensitive) {
      isMarked = true;
      value = value.value;
    }
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new ExpressionError("TYPE_MISMATCH", `Cannot read "${shorten(key)}": "${shorten(path)}" is no object`);
    }
    const found: RuntimeValue | undefined = Object.hasOwn(value, key)
      ? (value as { [key: string]: RuntimeValue })[key]
      : onUnknownKey?.(value, key);
    if (found === undefined) {
      throw new ExpressionError("UNKNOWN_KEY", `Unknown key "${shorten(key)}" in "${shorten(path)}"`, {
        hint: isMarked ? undefined : hintNames(key, Object.keys(value), "keys"),
      });
    }
    value = found;
    path = `${path}.${key}`;
  }
  return isMarked ? new Sensitive(value) : value;
}

/** The same in Moa: `steps["hello-world"].outputs.x`. */
export function formatDotted(names: readonly string[]): string {
  const [root, ...keys] = names as [string, ...string[]];
  return root + keys.map((key) => (/^\w+$/.test(key) ? `.${key}` : `["${key}"]`)).join("");
}
