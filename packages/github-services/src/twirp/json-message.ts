import { badRequest } from "../http/http-error.ts";
import type { Field, FieldValue, Message, MessageType } from "./message.ts";
import { camelCase } from "./message.ts";

const INT64 = /^-?\d{1,19}$/;

/** Reads a message from JSON: names in snake or camel case, 64-bit numbers as text or number, null for not set. */
export function messageFromJson(type: MessageType, json: Record<string, unknown>): Message {
  const message: Record<string, FieldValue> = {};
  for (const field of type) {
    const value = json[field.name] ?? json[camelCase(field.name)];
    if (value !== undefined && value !== null) message[field.name] = valueFromJson(field, value);
  }
  return message;
}

/** Writes a message as JSON with the schema's own names, as GitHub does: its clients look for `signed_upload_url` to mask it. */
export function messageToJson(type: MessageType, message: Message): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  for (const { name, kind, fields = [] } of type) {
    const value = message[name];
    if (value === undefined) continue;
    json[name] = kind === "messages" ? (value as readonly Message[]).map((one) => messageToJson(fields, one)) : value;
  }
  return json;
}

function valueFromJson({ name, kind }: Field, value: unknown): FieldValue {
  if (kind === "texts" && Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  if (kind === "bool" && typeof value === "boolean") return value;
  if ((kind === "text" || kind === "wrapped-text" || kind === "time") && typeof value === "string") return value;
  if (kind === "int64" || kind === "wrapped-int64") {
    if (typeof value === "string" && INT64.test(value)) return value;
    if (typeof value === "number" && Number.isSafeInteger(value)) return String(value);
  }
  throw badRequest(`The field "${name}" is not what it should be`);
}
