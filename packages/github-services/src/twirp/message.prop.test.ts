import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isHttpError } from "../http/http-error.ts";
import { messageFromBinary, messageToBinary } from "./binary-message.ts";
import { messageFromJson, messageToJson } from "./json-message.ts";
import type { Message, MessageType } from "./message.ts";
import { camelCase } from "./message.ts";

const TYPE: MessageType = [
  { no: 1, name: "ok", kind: "bool" },
  { no: 2, name: "key", kind: "text" },
  { no: 3, name: "restore_keys", kind: "texts" },
  { no: 4, name: "size_bytes", kind: "int64" },
  { no: 5, name: "mime_type", kind: "wrapped-text" },
  { no: 16, name: "id_filter", kind: "wrapped-int64" },
];

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String);
const text = fc.string({ unit: "binary" }).filter((one) => one.isWellFormed());
const aMessage: fc.Arbitrary<Message> = fc
  .record(
    {
      ok: fc.constant(true),
      key: text.filter((one) => one !== ""),
      restore_keys: fc.array(text, { minLength: 1 }),
      size_bytes: int64,
      mime_type: text,
      id_filter: int64,
    },
    { requiredKeys: [] },
  )
  .map((record) => ({ ...record }));

test("a message is the same after a way through either form", () => {
  fc.assert(
    fc.property(aMessage, (message) => {
      expect(messageFromBinary(TYPE, messageToBinary(TYPE, message))).toEqual(message);
      const json = JSON.parse(JSON.stringify(messageToJson(TYPE, message))) as Record<string, unknown>;
      expect(messageFromJson(TYPE, json)).toEqual(message);
      const camel = Object.fromEntries(Object.entries(json).map(([name, value]) => [camelCase(name), value]));
      expect(messageFromJson(TYPE, camel)).toEqual(message);
    }),
  );
});

test("any bytes are a message or a refusal", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        messageFromBinary(TYPE, Buffer.from(bytes));
      } catch (error) {
        expect(isHttpError(error)).toBe(true);
      }
    }),
    { numRuns: 2000 },
  );
});
