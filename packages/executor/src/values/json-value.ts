import type { Value } from "@steps/model";

/** Deeper values would end the stack of whoever walks them later. */
const MAX_DEPTH = 100;

/** JSON of a stranger; `undefined` when it is none. Wrapped, since `null` is a value too. */
export function parseJson(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    // The text of the error quotes the document, which may hold a secret.
    return undefined;
  }
}

/**
 * A value out of parsed JSON: objects without prototype, strings well-formed. `undefined` when it is nested more than
 * 100 levels deep or holds a number that is not finite.
 */
export function importValue(json: unknown, depth = 0): Value | undefined {
  if (json === null || typeof json === "boolean") return json;
  if (typeof json === "string") return json.toWellFormed();
  if (typeof json === "number") return Number.isFinite(json) ? json : undefined;
  if (typeof json !== "object" || depth >= MAX_DEPTH) return undefined;
  if (Array.isArray(json)) {
    const items: Value[] = [];
    for (const item of json) {
      const value = importValue(item, depth + 1);
      if (value === undefined) return undefined;
      items.push(value);
    }
    return items;
  }
  const object = Object.create(null) as Record<string, Value>;
  for (const key of Object.keys(json)) {
    const value = importValue((json as Record<string, unknown>)[key], depth + 1);
    if (value === undefined) return undefined;
    object[key.toWellFormed()] = value;
  }
  return object;
}
