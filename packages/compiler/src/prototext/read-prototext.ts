import type { Source } from "@steps/model/diagnostic";
import { MAX_DEPTH, MAX_TEXT_LENGTH } from "@steps/source/limits";
import { Report, reportMalformed, type YamlEntry, type YamlNode, type YamlScalar } from "@steps/source";
import { type Field, PrototextParser, PrototextProblem } from "./prototext-parser.ts";
import type { CompilerReport } from "../context.ts";
import type { CompilerDiagnostic } from "../diagnostic-rules.ts";

/** A message in protobuf's text form as the node that the same message in JSON would be. */
export interface PrototextMessage {
  readonly node: YamlNode | undefined;
  readonly diagnostics: readonly CompilerDiagnostic[];
}

/** Fields that a message of the baseline may have many of. */
const REPEATED: ReadonlySet<string> = new Set([
  "command",
  "steps",
  "finally",
  "parts",
  "path",
  "options",
  "permissions",
  "names",
  "values",
]);
/** Fields that are maps: many messages of a key and a value. */
const MAPS: ReadonlySet<string> = new Set(["env", "inputs", "outputs", "secrets", "fields"]);

/** Reads a baseline message in protobuf's text form (conformance section 1.7). Never throws. */
export function readPrototext(source: Source): PrototextMessage {
  const report: CompilerReport = new Report();
  if (source.text.length > MAX_TEXT_LENGTH) {
    report.error(
      { source, offset: 0, length: 1 },
      { code: "text-too-large", message: `The text is longer than ${MAX_TEXT_LENGTH / 1024 / 1024} Mi characters` },
    );
    return { node: undefined, diagnostics: report.finish() };
  }
  if (reportMalformed(source, report)) return { node: undefined, diagnostics: report.finish() };
  try {
    const fields = new PrototextParser(source, MAX_DEPTH).parse();
    const span = { source, offset: 0, length: source.text.length };
    return { node: messageNode(fields, span), diagnostics: [] };
  } catch (error) {
    if (!(error instanceof PrototextProblem)) throw error;
    const { code, offset, length } = error;
    report.error({ source, offset, length }, { code, message: error.message });
    return { node: undefined, diagnostics: report.finish() };
  }
}

interface Place {
  readonly source: Source;
  readonly offset: number;
  readonly length: number;
}

function messageNode(fields: readonly Field[], place: Place): YamlNode {
  const special = valueNode(fields, place) ?? durationNode(fields, place);
  if (special !== undefined) return special;
  const entries = new Map<string, YamlEntry>();
  const groups = Map.groupBy(fields, ({ name }) => name);
  for (const [name, [first, ...more]] of groups) {
    if (first === undefined) continue;
    const all = [first, ...more];
    const key = scalar(name, { ...first.key, source: place.source });
    const isMap = MAPS.has(name) && all.every(({ value }) => value.kind === "message");
    if (isMap) entries.set(name, { key, value: mapNode(all, place.source) });
    else if (REPEATED.has(name)) entries.set(name, { key, value: listNode(all, place.source) });
    // The last value of a singular field counts, as protobuf has it.
    else entries.set(name, { key, value: fieldNode(all.at(-1) as Field, place.source) });
  }
  return { kind: "mapping", entries, ...place };
}

function fieldNode({ value }: Field, source: Source): YamlNode {
  const place = { source, offset: value.offset, length: value.length };
  if (value.kind === "message") return messageNode(value.fields, place);
  return { kind: "scalar", value: value.value, text: String(value.value), style: value.style, ...place };
}

function listNode(fields: readonly Field[], source: Source): YamlNode {
  const items = fields.map((field) => fieldNode(field, source));
  const { offset, length } = items[0] as YamlNode;
  return { kind: "list", items, source, offset, length };
}

function mapNode(fields: readonly Field[], source: Source): YamlNode {
  const entries = new Map<string, YamlEntry>();
  for (const { value } of fields) {
    if (value.kind !== "message") continue;
    const place = { source, offset: value.offset, length: value.length };
    const key = value.fields.findLast(({ name }) => name === "key");
    const item = value.fields.findLast(({ name }) => name === "value");
    const name = key?.value.kind === "scalar" ? String(key.value.value) : "";
    const at = key === undefined ? place : { source, offset: key.value.offset, length: key.value.length };
    entries.set(name, { key: scalar(name, at), value: item === undefined ? nothing(place) : fieldNode(item, source) });
  }
  const { offset, length } = (fields[0] as Field).key;
  return { kind: "mapping", entries, source, offset, length };
}

/** google.protobuf.Value: one field says the kind. */
function valueNode(fields: readonly Field[], place: Place): YamlNode | undefined {
  const [field] = fields;
  if (field === undefined || fields.length !== 1) return undefined;
  const { source } = place;
  switch (field.name) {
    case "null_value":
      return nothing(place);
    case "string_value":
    case "number_value":
    case "bool_value":
      return fieldNode(field, source);
    case "struct_value": {
      const inner = messageOf(field);
      return inner.length === 0 ? { kind: "mapping", entries: new Map(), ...place } : mapNode(inner, source);
    }
    case "list_value": {
      const inner = messageOf(field);
      return inner.length === 0 ? { kind: "list", items: [], ...place } : listNode(inner, source);
    }
    default:
      return undefined;
  }
}

function messageOf({ value }: Field): readonly Field[] {
  return value.kind === "message" ? value.fields : [];
}

/** google.protobuf.Duration: a text as JSON has it. */
function durationNode(fields: readonly Field[], place: Place): YamlNode | undefined {
  if (fields.length === 0 || !fields.every(({ name }) => name === "seconds" || name === "nanos")) return undefined;
  const numberOf = (wanted: string): number => {
    const value = fields.findLast(({ name }) => name === wanted)?.value;
    return value?.kind === "scalar" && typeof value.value === "number" ? value.value : 0;
  };
  const text = `${numberOf("seconds") + numberOf("nanos") / 1e9}s`;
  return scalar(text, place);
}

function scalar(text: string, place: Place): YamlScalar {
  return { kind: "scalar", value: text, text, style: "plain", ...place };
}

function nothing(place: Place): YamlScalar {
  return { kind: "scalar", value: null, text: "", style: "plain", ...place };
}
