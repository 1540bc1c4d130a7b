/**
 * How a field is written. 64-bit numbers are decimal text in JSON; `wrapped-*` are protobuf's wrapper messages, which are
 * plain values in JSON; `time` is a Timestamp, RFC 3339 in JSON.
 */
type FieldKind = "text" | "texts" | "int64" | "bool" | "wrapped-text" | "wrapped-int64" | "time" | "messages";

export interface Field {
  readonly no: number;
  /** Its name in the schema, in snake case. */
  readonly name: string;
  readonly kind: FieldKind;
  /** The fields of the messages in a `messages` field. */
  readonly fields?: readonly Field[];
}

/** The fields of a message. Others are ignored when a message is read. */
export type MessageType = readonly Field[];

/** A value: text, also for numbers and times; a list of texts; a truth; messages. */
export type FieldValue = string | boolean | readonly string[] | readonly Message[];

/** The values of a message's fields by their names in snake case. A field with its default value is absent. */
export type Message = Readonly<{ [name: string]: FieldValue | undefined }>;

/** A field that is a text, a number or a time; undefined when it is not set. */
export function textField(message: Message, name: string): string | undefined {
  const value = message[name];
  return typeof value === "string" ? value : undefined;
}

/** A field that is a list of texts. */
export function textsField(message: Message, name: string): readonly string[] {
  const value = message[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** The name of a field in JSON as protobuf maps it: `size_bytes` is `sizeBytes`. */
export function camelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
