import { array, assert, integer, property, uint8Array } from "fast-check";
import { expect, test } from "vitest";
import { frame, MessageSplitter } from "./message-splitter.ts";

test("messages come out as they went in, wherever the body is cut", () => {
  assert(
    property(
      array(uint8Array({ maxLength: 300 }), { maxLength: 12 }),
      array(integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 20 }),
      (messages, sizes) => {
        const body = Buffer.concat(messages.map(frame));
        const splitter = new MessageSplitter(1000);
        const found: Buffer[] = [];
        for (let at = 0, turn = 0; at < body.length; turn++) {
          const size = sizes[turn % sizes.length] as number;
          splitter.push(body.subarray(at, at + size));
          at += size;
          for (let bytes = splitter.shift(); bytes !== undefined; bytes = splitter.shift())
            found.push(Buffer.from(bytes));
        }
        expect(found).toEqual(messages.map((message) => Buffer.from(message)));
        expect(splitter.isEmpty).toBe(true);
      },
    ),
  );
});

test("a message that is cut short is noticed", () => {
  const whole = frame(new Uint8Array(10));
  for (let length = 1; length < whole.length; length++) {
    const splitter = new MessageSplitter(1000);
    splitter.push(whole.subarray(0, length));
    expect(splitter.shift()).toBeUndefined();
    expect(splitter.isEmpty).toBe(false);
  }
});

test("a message that is too long is refused by its length alone", () => {
  const splitter = new MessageSplitter(1000);
  splitter.push(new Uint8Array([0, 0xff, 0xff, 0xff, 0xff]));
  expect(() => splitter.shift()).toThrow("4294967295 bytes");
});

test("a compressed message is refused", () => {
  const splitter = new MessageSplitter(1000);
  splitter.push(new Uint8Array([1, 0, 0, 0, 0]));
  expect(() => splitter.shift()).toThrow("flags 1");
});
