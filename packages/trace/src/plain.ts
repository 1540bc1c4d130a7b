import { mapObject, type Value } from "@steps/model";
import { formatValue } from "@steps/model/value";
import type { ValJson } from "@steps/proto";
import type { Vals } from "./journal-event.ts";
import { MASK } from "./mask.ts";

/** A stored value as it is shown: what was redacted is `[MASKED]`, or the value with its secrets so replaced. */
export function plainValue(val: ValJson): Value {
  if (val.redacted === undefined) return val.value ?? null;
  const { masked, reason, bytes, sha256 } = val.redacted;
  if (reason === "too_large") return `[${bytes ?? "?"} bytes, sha256 ${sha256 ?? "?"}]`;
  return masked ?? MASK;
}

export function plainValues(vals: Vals): Record<string, Value> {
  return mapObject(vals, plainValue);
}

/** Returns the values as texts, for environments. */
export function plainStrings(vals: Vals): Record<string, string> {
  return mapObject(vals, (val) => formatValue(plainValue(val)));
}
