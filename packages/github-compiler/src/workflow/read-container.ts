import { isMisspelt } from "@steps/source/keys";
import type { YamlNode } from "@steps/source";
import { type Contexts, type ExpressionPlace, hasExpression } from "@steps/github-language";
import { createObject, mapObject, type Value } from "@steps/model";
import { quote } from "@steps/model/diagnostic";
import { escapeTemplate, evaluateAt } from "../reading/evaluate.ts";
import { entriesOf, isNull, reportUnknownKey, wrongType } from "../reading/mapping.ts";
import { placeAt, type Reading } from "../reading/reading.ts";
import { readTexts } from "../reading/read-texts.ts";
import { templateOf } from "../reading/templates.ts";

export interface ContainerPlace {
  readonly what: string;
  readonly at: "job-container" | "job-services";
  /** The pointer to the container in the baseline. */
  readonly pointer: readonly string[];
  readonly contexts: Contexts;
}

const KEYS: readonly string[] = ["image", "options", "env", "ports", "volumes", "credentials"];
const SERVICE_KEYS: readonly string[] = [...KEYS, "entrypoint", "command"];

/**
 * Reads a container: an image, or a mapping. Its texts stay in GitHub's language. `undefined`: there is none, as an image that
 * evaluates to nothing is none, or it is malformed, which was reported.
 */
export function readContainer(reading: Reading, node: YamlNode, place: ContainerPlace): Value | undefined {
  placeAt(reading, place.pointer, node);
  if (node.kind === "mapping") return readMapping(reading, node, place);
  const { what, at, contexts } = place;
  const text = isNull(node) ? "" : templateOf(reading, node, { what, at });
  if (text === undefined || text === "") return undefined;
  if (!hasExpression(text)) return createObject<Value>([["image", text]]);
  const value = evaluateAt(reading, node, { text, contexts });
  if (value === null || value === "" || value === undefined) return undefined;
  if (Array.isArray(value)) {
    wrongType(reading, node, `${what} must be an image or a mapping`);
    return undefined;
  }
  // Evaluated already: what its values hold must not be evaluated again.
  return typeof value === "object" ? escapeValue(value) : createObject<Value>([["image", text]]);
}

function escapeValue(value: Value): Value {
  if (typeof value === "string") return escapeTemplate(value);
  if (Array.isArray(value)) return value.map(escapeValue);
  return value !== null && typeof value === "object" ? mapObject(value, escapeValue) : value;
}

function readMapping(reading: Reading, node: YamlNode, place: ContainerPlace): Value | undefined {
  const { what, at, pointer, contexts } = place;
  const container = createObject<Value>();
  const known = at === "job-services" ? SERVICE_KEYS : KEYS;
  for (const [name, { key, value }] of entriesOf(reading, node, what)) {
    const of = `${quote(name)} of ${what}`;
    if (!known.includes(name)) reportUnknownKey(reading, { name, key, what }, { known });
    else if (name === "env" || name === "credentials") {
      const inner: ExpressionPlace = `${at}-${name}`;
      container[name] = readTexts(reading, value, {
        what: of,
        at: inner,
        pointer: [...pointer, name],
        isEnv: name === "env",
      });
    } else if (name === "ports" || name === "volumes") {
      container[name] = readList(reading, value, { what: of, at, contexts });
    } else container[name] = templateOf(reading, value, { what: of, at }) ?? "";
  }
  if (container["image"] === undefined) {
    const isElsewhere = node.kind === "mapping" && isMisspelt(node.entries.keys(), ["image"], { known });
    if (!isElsewhere) reading.report.error(node, { code: "missing-key", message: `${what} has no "image"` });
    return undefined;
  }
  return isEmptyImage(reading, node, { image: container["image"], contexts }) ? undefined : container;
}

function isEmptyImage(
  reading: Reading,
  node: YamlNode,
  { image, contexts }: { readonly image: Value; readonly contexts: Contexts },
): boolean {
  if (typeof image !== "string" || !hasExpression(image)) return image === "";
  const value = evaluateAt(reading, node, { text: image, contexts });
  return value === "" || value === null;
}

function readList(
  reading: Reading,
  node: YamlNode,
  place: { readonly what: string; readonly at: ExpressionPlace; readonly contexts: Contexts },
): Value[] {
  if (node.kind === "list") return node.items.map((item) => templateOf(reading, item, place) ?? "");
  const text = node.kind === "scalar" ? templateOf(reading, node, place) : undefined;
  if (text !== undefined && hasExpression(text)) {
    const value = evaluateAt(reading, node, { text, contexts: place.contexts });
    if (value === undefined) return [];
    if (Array.isArray(value)) return value.map(escapeValue);
  }
  wrongType(reading, node, `${place.what} must be a list`);
  return [];
}
