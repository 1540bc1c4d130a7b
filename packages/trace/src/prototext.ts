import { StepResultSchema } from "@steps/proto";
import type { StepResultJson } from "@steps/proto";
import type { DescField, DescMessage } from "./schema-types.ts";
import { scalar } from "./schema-types.ts";

// GitLab's schema spells two fields as JSON does; the text form shows the names of the schema.
const GITLAB_NAMES: ReadonlyMap<string, string> = new Map([
  ["spec_definition", "specDefinition"],
  ["spec_def", "specDef"],
]);
const FIRST_OWN_NUMBER = 100;

type Json = Readonly<Record<string, unknown>>;

/** Writes a result in protobuf's text form. Fields that only we have are left out, GitLab's reader refuses them. */
export function writePrototext(result: StepResultJson): string {
  const lines: string[] = [];
  writeMessage(StepResultSchema, result, { lines, indent: "" });
  return lines.map((line) => `${line}\n`).join("");
}

interface Output {
  readonly lines: string[];
  readonly indent: string;
}

function writeMessage(message: DescMessage, json: Json, output: Output): void {
  for (const field of message.fields) {
    const value = json[field.jsonName];
    if (value === undefined || field.number >= FIRST_OWN_NUMBER) continue;
    const name = GITLAB_NAMES.get(field.name) ?? field.name;
    switch (field.fieldKind) {
      case "map":
        writeMap(name, { field, json: value as Json, output });
        break;
      case "list":
        for (const item of value as readonly unknown[]) writeItem(name, { field, value: item, output });
        break;
      case "message":
      case "enum":
      case "scalar":
        writeItem(name, { field, value, output });
        break;
    }
  }
}

function writeMap(name: string, { field, json, output }: { field: DescField; json: Json; output: Output }): void {
  for (const key of Object.keys(json).toSorted()) {
    block(name, output, (inner) => {
      inner.lines.push(`${inner.indent}key: ${quote(key)}`);
      writeItem("value", { field, value: json[key], output: inner });
    });
  }
}

function writeItem(name: string, { field, value, output }: { field: DescField; value: unknown; output: Output }): void {
  const { message } = field;
  if (message?.typeName === "google.protobuf.Value") block(name, output, (inner) => writeValue(value, inner));
  else if (message) block(name, output, (inner) => writeMessage(message, value as Json, inner));
  else if (field.enum) output.lines.push(`${output.indent}${name}: ${String(value)}`);
  else {
    const type: number | undefined = field.scalar;
    const isText = type === undefined || type === scalar.string;
    output.lines.push(`${output.indent}${name}: ${isText ? quote(String(value)) : String(value)}`);
  }
}

function writeValue(value: unknown, output: Output): void {
  const { lines, indent } = output;
  if (value === null || value === undefined) lines.push(`${indent}null_value: NULL_VALUE`);
  else if (typeof value === "boolean") lines.push(`${indent}bool_value: ${value}`);
  else if (typeof value === "number") lines.push(`${indent}number_value: ${value}`);
  else if (typeof value === "string") lines.push(`${indent}string_value: ${quote(value)}`);
  else if (Array.isArray(value)) {
    block("list_value", output, (inner) => {
      for (const item of value) block("values", inner, (deeper) => writeValue(item, deeper));
    });
  } else {
    block("struct_value", output, (inner) => {
      for (const key of Object.keys(value).toSorted()) {
        block("fields", inner, (entry) => {
          entry.lines.push(`${entry.indent}key: ${quote(key)}`);
          block("value", entry, (deeper) => writeValue((value as Json)[key], deeper));
        });
      }
    });
  }
}

function block(name: string, { lines, indent }: Output, write: (inner: Output) => void): void {
  lines.push(`${indent}${name} {`);
  write({ lines, indent: `${indent}  ` });
  lines.push(`${indent}}`);
}

const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\" };

function quote(text: string): string {
  const escaped = text
    .toWellFormed()
    .replace(
      /[\u0000-\u001f"\\\u007f]/g,
      (char) => ESCAPES[char] ?? `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`,
    );
  return `"${escaped}"`;
}
