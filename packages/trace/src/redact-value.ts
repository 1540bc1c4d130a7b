import { createObject, type RuntimeValue, Sensitive, type Value } from "@steps/model";
import { canonicalJson, formatNumber, secretTexts } from "@steps/model/value";
import { sha256 } from "@steps/platform";
import type { ValJson } from "@steps/proto";
import { MASK, type Masker, type SecretOrigin } from "./mask.ts";

/** A value above this many bytes is stored as its digest. */
const MAX_VALUE_BYTES: number = 1024 * 1024;
// Deeper than any reader of protobuf's JSON has to follow.
const MAX_VALUE_DEPTH = 64;

interface Findings {
  hasMark: boolean;
  hasSecret: boolean;
  isTooDeep: boolean;
  units: number;
}

/** Makes the masker know every text inside the marked parts of a value. */
export function registerSecrets(value: RuntimeValue, masker: Masker, origin: SecretOrigin): void {
  if (value instanceof Sensitive || (typeof value === "object" && value !== null)) {
    for (const text of secretTexts(value)) masker.add(text, origin);
  }
}

/**
 * Makes the masker know the marked parts of a value that was made of others. An object in JSON, such as all variables of a job, has
 * members that are secrets and others that are not: it is masked as a whole, and its members are left to their own marks.
 */
export function registerComposed(value: RuntimeValue, masker: Masker, origin: SecretOrigin): void {
  // Environments hold hundreds of texts, nearly all without a mark.
  if (typeof value !== "object" || value === null) return;
  for (const text of secretTexts(value)) {
    if (/^\s*\{/.test(text)) masker.addForm(text);
    else masker.add(text, origin);
  }
}

/** A value as it may be stored: whole, in part, or as the reason why not. */
export function redactValue(value: RuntimeValue, masker: Masker): ValJson {
  if (value instanceof Sensitive) return { redacted: { reason: "sensitive" } };
  const found: Findings = { hasMark: false, hasSecret: false, isTooDeep: false, units: 0 };
  const masked = maskValue(value, { masker, found, depth: 0 });
  if (found.isTooDeep || found.units * 3 > MAX_VALUE_BYTES) {
    const large = describeLarge(masked, found.isTooDeep);
    if (large) return large;
  }
  if (!found.hasMark && !found.hasSecret) return { value: masked };
  const reason = found.hasMark ? "sensitive" : "masked_value";
  return { redacted: masked === MASK ? { reason } : { reason, masked } };
}

// Digests are of the masked value: one of a secret would let it be guessed.
function describeLarge(masked: Value, isTooDeep: boolean): ValJson | undefined {
  const text = typeof masked === "string" ? masked : canonicalJson(masked);
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_VALUE_BYTES && !isTooDeep) return undefined;
  return { redacted: { reason: "too_large", sha256: sha256(text), bytes: String(bytes) } };
}

interface MaskOptions {
  readonly masker: Masker;
  readonly found: Findings;
  readonly depth: number;
}

function maskValue(value: RuntimeValue, { masker, found, depth }: MaskOptions): Value {
  if (typeof value === "string") {
    found.units += value.length;
    const masked = maskString(value, masker);
    if (masked !== value && masked !== value.toWellFormed()) found.hasSecret = true;
    return masked;
  }
  found.units += 8;
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return String(value);
    if (masker.text(formatNumber(value)) === formatNumber(value)) return value;
    found.hasSecret = true;
    return MASK;
  }
  if (value instanceof Sensitive) {
    found.hasMark = true;
    return MASK;
  }
  if (depth >= MAX_VALUE_DEPTH) {
    found.isTooDeep = true;
    return null;
  }
  const inner = { masker, found, depth: depth + 1 };
  if (Array.isArray(value)) return value.map((item) => maskValue(item, inner));
  const result = createObject<Value>();
  for (const key of Object.keys(value)) {
    const name = maskValue(key, inner) as string;
    result[name] = maskValue(value[key] as RuntimeValue, inner);
  }
  return result;
}

/** A text without secrets, and well-formed, since protobuf's strings are. */
export function maskString(text: string, masker: Masker): string {
  const masked = masker.text(text);
  return masked.isWellFormed() ? masked : masked.toWellFormed();
}

/** Any JSON without secrets, keys too. */
export function maskJson<T>(json: T, masker: Masker): T {
  if (typeof json === "string") return maskString(json, masker) as T;
  if (typeof json !== "object" || json === null) return json;
  if (Array.isArray(json)) return json.map((item: unknown) => maskJson(item, masker)) as T;
  const result = createObject<unknown>();
  for (const [key, item] of Object.entries(json)) result[maskString(key, masker)] = maskJson(item, masker);
  return result as T;
}
