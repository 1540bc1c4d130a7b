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
  readonly path: string[];
  readonly pointers: Set<string>;
}

function redactJson(json: unknown, found: Found): unknown {
  if (typeof json === "string" || typeof json === "number") {
    const redacted = typeof json === "string" ? maskString(json, found.masker) : redactNumber(json, found.masker);
    if (redacted !== json) note(found);
    return redacted;
  }
  if (typeof json !== "object" || json === null) return json;
  const { path } = found;
  if (Array.isArray(json)) {
    return json.map((item: unknown, index) => {
      path.push(String(index));
      const redacted = redactJson(item, found);
      path.pop();
      return redacted;
    });
  }
  const result = createObject<unknown>();
  for (const [key, item] of Object.entries(json)) {
    const name = maskString(key, found.masker);
    path.push(name);
    if (name !== key) note(found);
    result[name] = redactJson(item, found);
    path.pop();
  }
  return result;
}

// JSON has no other numbers, and neither has what is made of it.
function redactNumber(number: number, masker: Masker): number | string {
  if (!Number.isFinite(number)) return String(number);
  const text = formatNumber(number);
  return masker.text(text) === text ? number : MASK;
}

function note({ masker, path, pointers }: Found): void {
  if (pointers.size >= MAX_POINTERS) return;
  const pointer = path.map((part) => `/${part.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  pointers.add(maskString(pointer, masker));
}
