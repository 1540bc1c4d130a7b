import { createObject } from "@steps/model";
import { encodeSpecDefinition } from "@steps/model/baseline";
import type { SpecDefinition } from "@steps/model/definition";
import { formatNumber } from "@steps/model/value";
import { digestOf } from "@steps/platform";
import type { SpecDefinitionJson } from "@steps/proto";
import { MASK, type Masker } from "./mask.ts";
import { maskString } from "./redact-value.ts";

/** A definition as it may be stored. */
export interface RedactedDefinition {
  readonly json: SpecDefinitionJson;
  /** JSON Pointers of what differs from the definition that ran; empty when nothing does. */
  readonly redactedTexts: readonly string[];
  /**
   * The digest of `json` when it differs from the original: the digest of the original would let the secret be guessed.
   */
  readonly digest: string | undefined;
}

// A definition that is full of a secret need not say so in as many places.
const MAX_POINTERS = 1000;

/** Takes the secrets out of a definition, and notes where. */
export function redactDefinition(definition: SpecDefinition, masker: Masker): RedactedDefinition {
  const { json, pointers } = redactDefinitionJson(encodeSpecDefinition(definition), masker);
  return { json, redactedTexts: pointers, digest: pointers.length > 0 ? digestOf(json) : undefined };
}

/** The same of an encoded one; the pointers name what was replaced. */
export function redactDefinitionJson(
  definition: SpecDefinitionJson,
  masker: Masker,
): { readonly json: SpecDefinitionJson; readonly pointers: readonly string[] } {
  const found: Found = { masker, path: [], pointers: new Set() };
  const json = redactJson(definition, found) as SpecDefinitionJson;
  return { json, pointers: [...found.pointers] };
}

interface Found {
  readonly masker: Masker;
  readonly path: (string | number)[];
  readonly pointers: Set<string>;
}

// A part without a secret is not copied: a definition may have tens of thousands of parts.
function redactJson(json: unknown, found: Found): unknown {
  if (typeof json === "string" || typeof json === "number") {
    const redacted = typeof json === "string" ? maskString(json, found.masker) : redactNumber(json, found.masker);
    if (redacted !== json) note(found);
    return redacted;
  }
  if (typeof json !== "object" || json === null) return json;
  return Array.isArray(json) ? redactList(json, found) : redactMembers(json as Record<string, unknown>, found);
}

function redactList(list: readonly unknown[], found: Found): readonly unknown[] {
  const { path } = found;
  let copy: unknown[] | undefined;
  for (const [index, item] of list.entries()) {
    path.push(index);
    const redacted = redactJson(item, found);
    path.pop();
    if (redacted !== item) copy ??= list.slice(0, index);
    copy?.push(redacted);
  }
  return copy ?? list;
}

function redactMembers(members: Readonly<Record<string, unknown>>, found: Found): Readonly<Record<string, unknown>> {
  const { masker, path } = found;
  const keys = Object.keys(members);
  let copy: Record<string, unknown> | undefined;
  for (const [index, key] of keys.entries()) {
    const item = members[key];
    const name = maskString(key, masker);
    path.push(name);
    if (name !== key) note(found);
    const redacted = redactJson(item, found);
    path.pop();
    if (redacted !== item || name !== key)
      copy ??= createObject(keys.slice(0, index).map((before) => [before, members[before]]));
    if (copy !== undefined) copy[name] = redacted;
  }
  return copy ?? members;
}

// JSON has no other numbers, and neither has what is made of it.
function redactNumber(number: number, masker: Masker): number | string {
  if (!Number.isFinite(number)) return String(number);
  const text = formatNumber(number);
  return masker.text(text) === text ? number : MASK;
}

function note({ masker, path, pointers }: Found): void {
  if (pointers.size >= MAX_POINTERS) return;
  const pointer = path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  pointers.add(maskString(pointer, masker));
}
