import { createObject } from "@steps/model";
import { PipelineTraceSchema, TraceSchema } from "@steps/proto";
import type { PipelineTraceJson, TraceJson } from "@steps/proto";
import { escapePointer } from "@steps/model/value";
import { TraceError } from "./error.ts";
import { type DescEnum, type DescField, type DescMessage, scalar } from "./schema-types.ts";

// A run of 10 000 steps with large environments stays below.
const MAX_TEXT_LENGTH = 256 * 1024 * 1024;
const MAX_DEPTH = 400;

interface Place {
  readonly pointer: string;
  readonly depth: number;
}

/**
 * Reads a trace by its schema, as protobuf's JSON is read: both spellings of names, enums by name or number, unknown
 * fields left out. The result has zero values left out and is what `encodeTrace()` writes again.
 *
 * @throws {TraceError} TRACE_INVALID with the JSON pointer of what is wrong
 */
export function readTrace(text: string): TraceJson {
  const trace = readMessage(TraceSchema, parseText(text), TOP) as TraceJson;
  if (trace.formatVersion === undefined)
    throw invalid("it has no format version", { pointer: "/formatVersion", depth: 0 });
  if (trace.root === undefined) throw invalid("it has no steps", { pointer: "/root", depth: 0 });
  return trace;
}

/** Reads the trace of a pipeline by its schema, in the same way. @throws {TraceError} TRACE_INVALID */
export function readPipelineTrace(text: string): PipelineTraceJson {
  const trace = readMessage(PipelineTraceSchema, parseText(text), TOP) as PipelineTraceJson;
  if (trace.pipelineFormatVersion !== undefined) return trace;
  throw invalid("it has no format version", { pointer: "/pipelineFormatVersion", depth: 0 });
}

const TOP: Place = { pointer: "", depth: 0 };

function parseText(text: string): unknown {
  if (text.length > MAX_TEXT_LENGTH) throw invalid("the text is too long", TOP);
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TraceError("TRACE_INVALID", "Cannot read trace: the text is not JSON", { cause });
  }
}

function invalid(problem: string, { pointer }: Place): TraceError {
  return new TraceError(
    "TRACE_INVALID",
    `Cannot read trace: ${problem}${pointer === "" ? "" : ` at "${pointer.slice(0, 200)}"`}`,
  );
}

function inside(place: Place, key: string | number): Place {
  if (place.depth >= MAX_DEPTH) throw invalid("it is nested too deeply", place);
  return { pointer: `${place.pointer}/${escapePointer(String(key))}`, depth: place.depth + 1 };
}

/** Reads any message of the schemas out of parsed JSON. @throws {TraceError} TRACE_INVALID */
export function readJsonMessage(message: DescMessage, json: unknown): unknown {
  return readMessage(message, json, TOP);
}

function readMessage(message: DescMessage, json: unknown, place: Place): unknown {
  if (message.typeName === "google.protobuf.Value") return readValue(json, place);
  if (message.typeName === "google.protobuf.Timestamp") return readTimestamp(json, place);
  if (message.typeName === "google.protobuf.Duration") return readDuration(json, place);
  const object = asObject(json, place);
  const result: Record<string, unknown> = {};
  const chosen = new Set<string>();
  for (const field of message.fields) {
    const key = Object.hasOwn(object, field.jsonName) ? field.jsonName : field.name;
    if (!Object.hasOwn(object, key)) continue;
    const value = object[key];
    // A member that is undefined is not there, as in JSON.
    if (value === undefined) continue;
    // null says "absent", but for a value that may itself be null.
    if (value === null && field.message?.typeName !== "google.protobuf.Value") continue;
    const read = readField(field, value, inside(place, key));
    if (read === undefined) continue;
    const oneof = field.oneof?.name;
    if (oneof !== undefined) {
      if (chosen.has(oneof)) throw invalid(`more than one of "${oneof}" is given`, place);
      chosen.add(oneof);
    }
    result[field.jsonName] = read;
  }
  return result;
}

function readField(field: DescField, value: unknown, place: Place): unknown {
  if (field.fieldKind === "list") {
    if (!Array.isArray(value)) throw invalid("a list is expected", place);
    const items = value.map((item, index) => readItem(field, item, inside(place, index)));
    return items.length === 0 ? undefined : items;
  }
  if (field.fieldKind === "map") {
    const entries = Object.entries(asObject(value, place));
    if (entries.length === 0) return undefined;
    return createObject(entries.map(([key, item]) => [key, readItem(field, item, inside(place, key))] as const));
  }
  const read = readItem(field, value, place);
  const hasPresence = field.fieldKind === "message" || field.oneof !== undefined || field.proto.proto3Optional;
  return !hasPresence && isZero(field, read) ? undefined : read;
}

function isZero(field: DescField, read: unknown): boolean {
  if (field.enum) return read === field.enum.values[0]?.name;
  const type: number | undefined = field.scalar;
  return read === (type === scalar.uint64 ? "0" : type === scalar.bool ? false : typeof read === "string" ? "" : 0);
}

function readItem(field: DescField, value: unknown, place: Place): unknown {
  if (field.message) return readMessage(field.message, value, place);
  if (field.enum) return readEnum(field.enum, value, place);
  switch (field.scalar as number) {
    case scalar.string:
      if (typeof value !== "string") throw invalid("a text is expected", place);
      return value;
    case scalar.bytes:
      if (typeof value !== "string") throw invalid("base64 is expected", place);
      return Buffer.from(value, "base64").toString("base64");
    case scalar.bool:
      if (typeof value !== "boolean") throw invalid("true or false is expected", place);
      return value;
    case scalar.double:
      return readNumber(value, place);
    case scalar.uint64:
      return readUint64(value, place);
    case scalar.int32:
      return readInteger(value, { min: -2_147_483_648, max: 2_147_483_647, place });
    case scalar.uint32:
      return readInteger(value, { min: 0, max: 4_294_967_295, place });
    default:
      throw invalid("the schema has a type that this reader does not know", place);
  }
}

function readEnum(desc: DescEnum, value: unknown, place: Place): string {
  const found = desc.values.find((item) => item.name === value || item.number === value);
  if (!found) throw invalid(`one of ${desc.values.map((item) => item.name).join(", ")} is expected`, place);
  return found.name;
}

function readNumber(value: unknown, place: Place): number {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number)) throw invalid("a number is expected", place);
  return number;
}

function readInteger(value: unknown, { min, max, place }: { min: number; max: number; place: Place }): number {
  const number = readNumber(value, place);
  if (!Number.isInteger(number) || number < min || number > max)
    throw invalid(`a whole number from ${min} to ${max} is expected`, place);
  return number;
}

function readUint64(value: unknown, place: Place): string {
  const text = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== "string" || !/^\d{1,20}$/.test(text) || BigInt(text) > 0xffff_ffff_ffff_ffffn) {
    throw invalid("a whole number from 0 is expected", place);
  }
  return BigInt(text).toString();
}

function readTimestamp(json: unknown, place: Place): string {
  const isTime =
    typeof json === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/.test(json);
  const time = isTime ? Date.parse(json) : Number.NaN;
  if (Number.isNaN(time)) throw invalid("a time such as 2026-01-31T23:59:59Z is expected", place);
  return new Date(time).toISOString().replace(".000Z", "Z");
}

function readDuration(json: unknown, place: Place): string {
  if (typeof json === "string" && /^-?\d{1,12}(?:\.\d{1,9})?s$/.test(json)) return json;
  throw invalid("a duration such as 1.5s is expected", place);
}

function readValue(json: unknown, place: Place): unknown {
  if (typeof json !== "object" || json === null) return json;
  if (Array.isArray(json)) return json.map((item, index) => readValue(item, inside(place, index)));
  return createObject(Object.entries(json).map(([key, item]) => [key, readValue(item, inside(place, key))] as const));
}

function asObject(json: unknown, place: Place): Readonly<Record<string, unknown>> {
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw invalid("an object is expected", place);
  return json as Readonly<Record<string, unknown>>;
}
