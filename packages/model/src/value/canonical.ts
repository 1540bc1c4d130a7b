import { formatNumber } from "./value.ts";

/**
 * JSON in the one form of RFC 8785 (JCS): no white space, keys sorted by UTF-16 units. `undefined` members are left out,
 * objects with a `toJSON()` stand for what it gives. Unlike in the RFC a lone surrogate is escaped, not refused: names
 * and logs may hold one.
 *
 * @throws {TypeError} for what JSON cannot hold: NaN, infinities, functions
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError(`Cannot encode number: ${value}`);
    return formatNumber(value);
  }
  if (Array.isArray(value)) return canonicalList(value);
  if (typeof value !== "object") throw new TypeError(`Cannot encode value: ${typeof value}`);
  if ("toJSON" in value && typeof value.toJSON === "function") return canonicalJson(value.toJSON());
  const keys = Object.keys(value);
  // Most objects have few keys, which are in order more often than not.
  if (!isSorted(keys)) keys.sort();
  let members = "";
  for (const key of keys) {
    const item = (value as Record<string, unknown>)[key];
    if (item === undefined) continue;
    members += `${members === "" ? "" : ","}${quoted(key)}:${canonicalJson(item)}`;
  }
  return `{${members}}`;
}

// Holes count as well.
function canonicalList(list: readonly unknown[]): string {
  let items = "";
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    items += `${i === 0 ? "" : ","}${canonicalJson(item === undefined ? null : item)}`;
  }
  return `[${items}]`;
}

function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if ((keys[i - 1] as string) > (keys[i] as string)) return false;
  return true;
}

const PLAIN = /^[ !#-[\]-~]*$/;

// Most texts are short and hold nothing to escape.
function quoted(text: string): string {
  return text.length < 100 && PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
