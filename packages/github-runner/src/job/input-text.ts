import type { Value } from "@steps/model";

/** A value as an action takes it: texts only. */
export function inputText(value: Value): string {
  if (value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
