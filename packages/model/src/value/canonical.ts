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
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new TypeError(`Cannot encode number: ${value}`);
    return formatNumber(value);
  }
  if (Array.isArray(value))
    // `Array.from` so that holes count as well.
    return `[${Array.from(value, (item: unknown) => canonicalJson(item === undefined ? null : item)).join(",")}]`;
  if (typeof value !== "object") throw new TypeError(`Cannot encode value: ${typeof value}`);
  if ("toJSON" in value && typeof value.toJSON === "function") return canonicalJson(value.toJSON());
  const members: string[] = [];
  for (const key of Object.keys(value).toSorted()) {
    const item = (value as Record<string, unknown>)[key];
    if (item !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(item)}`);
  }
  return `{${members.join(",")}}`;
}
