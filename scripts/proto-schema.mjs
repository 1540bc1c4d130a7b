// JSON Schemas of protobuf messages in their JSON form, from what buf says of them, comments included.
import { execFileSync } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const DIGITS = { type: "string", pattern: "^-?[0-9]+$" };
const NUMBER = { anyOf: [{ type: "number" }, { enum: ["NaN", "Infinity", "-Infinity"] }] };
const SCALARS = {
  TYPE_STRING: { type: "string" },
  TYPE_BOOL: { type: "boolean" },
  TYPE_INT32: { type: "integer", minimum: -2147483648, maximum: 2147483647 },
  TYPE_UINT32: { type: "integer", minimum: 0, maximum: 4294967295 },
  TYPE_INT64: DIGITS,
  TYPE_UINT64: { type: "string", pattern: "^[0-9]+$" },
  TYPE_DOUBLE: NUMBER,
  TYPE_FLOAT: NUMBER,
  TYPE_BYTES: { type: "string", contentEncoding: "base64" },
};
const WELL_KNOWN = {
  ".google.protobuf.Value": {},
  ".google.protobuf.Struct": { type: "object" },
  ".google.protobuf.ListValue": { type: "array" },
  ".google.protobuf.NullValue": { type: "null" },
  ".google.protobuf.Timestamp": { type: "string", format: "date-time" },
  ".google.protobuf.Duration": { type: "string", pattern: "^-?[0-9]+(?:\\.[0-9]+)?s$" },
};

/** Reads all messages and enums of `proto/`, by their full names with a leading dot. */
export function readProto() {
  const set = JSON.parse(
    execFileSync("buf", ["build", "-o", "-#format=json"], { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 }),
  );
  const types = new Map();
  for (const file of set.file) {
    const comments = new Map(
      (file.sourceCodeInfo?.location ?? []).map((at) => [(at.path ?? []).join("."), at.leadingComments]),
    );
    const add = (scope, path, { messageType = [], nestedType = [], enumType = [] }, [messages, enums]) => {
      for (const [index, message] of [...messageType, ...nestedType].entries()) {
        const at = [...path, messages, index];
        const name = `${scope}.${message.name}`;
        types.set(name, { kind: "message", message, comment: (tail) => comments.get([...at, ...tail].join(".")) });
        add(name, at, { nestedType: message.nestedType, enumType: message.enumType }, [3, 4]);
      }
      for (const [index, value] of enumType.entries()) {
        const at = [...path, enums, index];
        const comment = (tail) => comments.get([...at, ...tail].join("."));
        types.set(`${scope}.${value.name}`, { kind: "enum", value, comment });
      }
    };
    add(file.package === "" ? "" : `.${file.package}`, [], file, [4, 5]);
  }
  return types;
}

/** The schema (draft 2020-12) of one message. Members may be added to a message: others are allowed. */
export function protoSchema(types, name, { id, title, required = [] }) {
  const defs = {};
  const rootSchema = referenceTo(name);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: id,
    title,
    ...rootSchema,
    ...(required.length === 0 ? {} : { required }),
    $defs: Object.fromEntries(Object.entries(defs).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };

  function referenceTo(typeName) {
    const known = WELL_KNOWN[typeName];
    if (known !== undefined) return known;
    const short = typeName.slice(typeName.indexOf(".", typeName.startsWith(".steps.v1.") ? 7 : 1) + 1);
    if (!(short in defs)) {
      // Before its members, which may name it.
      defs[short] = {};
      const type = types.get(typeName);
      defs[short] = type.kind === "enum" ? enumSchema(type) : messageSchema(type);
    }
    return { $ref: `#/$defs/${short}` };
  }

  function messageSchema({ message, comment }) {
    const properties = {};
    const groups = new Map();
    for (const [index, field] of (message.field ?? []).entries()) {
      properties[field.jsonName] = { ...described(comment([2, index])), ...fieldSchema(message, field) };
      if (field.oneofIndex === undefined || field.proto3Optional) continue;
      groups.set(field.oneofIndex, [...(groups.get(field.oneofIndex) ?? []), field.jsonName]);
    }
    // At most one of a oneof.
    const pairs = [...groups.values()].flatMap((names) =>
      names.flatMap((a, i) => names.slice(i + 1).map((b) => ({ required: [a, b] }))),
    );
    return {
      ...described(comment([])),
      type: "object",
      properties,
      ...(pairs.length === 0 ? {} : { not: pairs.length === 1 ? pairs[0] : { anyOf: pairs } }),
    };
  }

  function fieldSchema(message, field) {
    const entry = (message.nestedType ?? []).find(
      (nested) => nested.options?.mapEntry === true && field.typeName?.endsWith(`.${message.name}.${nested.name}`),
    );
    if (entry !== undefined) return { type: "object", additionalProperties: valueSchema(entry.field[1]) };
    const value = valueSchema(field);
    return field.label === "LABEL_REPEATED" ? { type: "array", items: value } : value;
  }

  function valueSchema(field) {
    if (field.typeName !== undefined) return referenceTo(field.typeName);
    return SCALARS[field.type];
  }

  function enumSchema({ value, comment }) {
    return { ...described(comment([])), enum: value.value.map(({ name: word }) => word) };
  }
}

function described(comment) {
  const text = comment?.trim().replaceAll(/\s*\n\s*/g, " ");
  return text === undefined || text === "" ? {} : { description: text };
}
