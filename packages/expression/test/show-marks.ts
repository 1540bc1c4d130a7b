import { type RuntimeValue, Sensitive } from "@steps/model";

/** A value with its marks made visible, since equality does not look inside `Sensitive`. */
export function showMarks(value: RuntimeValue): unknown {
  if (value instanceof Sensitive) return { $sensitive: showMarks(value.value) };
  if (Array.isArray(value)) return value.map(showMarks);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, showMarks(item)]));
}
