import { once } from "node:events";
import { Duplex, duplexPair } from "node:stream";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { BoundedText } from "@steps/model/bounded-text";
import { DockerStream } from "./docker-stream.ts";

interface Frame {
  readonly type: number;
  readonly content: Uint8Array;
}

function encode({ type, content }: Frame): Buffer {
  const header = Buffer.from([type, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(content.length, 4);
  return Buffer.concat([header, content]);
}

const frames = fc.array(
  fc.record({ type: fc.constantFrom(0, 1, 1, 2, 3), content: fc.uint8Array({ maxLength: 300 }) }),
  { maxLength: 12 },
);

test("stdout comes out byte for byte, however the frames are cut, and stderr is kept", async () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(frames, cuts, fc.nat(20), async (sent, pieces, headBytes) => {
      const [near, far] = duplexPair();
      const wire = Buffer.concat(sent.map(encode));
      const stream = new DockerStream(near, wire.subarray(0, headBytes));
      for (let at = headBytes, turn = 0; at < wire.length; turn += 1) {
        const size = pieces[turn % pieces.length] as number;
        far.write(wire.subarray(at, at + size));
        at += size;
      }
      far.end();
      const errors = sent.filter(({ type }) => type !== 1).map(({ content }) => content);
      const received = Buffer.concat(await stream.toArray());
      expect(received).toEqual(Buffer.concat(sent.filter(({ type }) => type === 1).map(({ content }) => content)));
      const kept = new BoundedText();
      kept.append(Buffer.concat(errors));
      expect(stream.stderr.toString()).toBe(kept.toString());
      stream.destroy();
    }),
    { numRuns: 60 },
  );
});

test("a stream that is cut in a frame, or that is not framed, is an error", async () => {
  const whole = encode({ type: 1, content: Buffer.from("hello") });
  for (let length = 1; length < whole.length; length += 1) {
    const [near, far] = duplexPair();
    const stream = new DockerStream(near, Buffer.alloc(0)).resume();
    far.end(whole.subarray(0, length));
    const [error] = (await once(stream, "error")) as [unknown];
    expect(error).toMatchObject({ code: "UNREACHABLE" });
    expect(near.destroyed).toBe(true);
  }
  for (const garbage of ["HTTP/1.1 ", "\u0004\0\0\0\0\0\0\0", "\u0001\0\u0001\0\0\0\0\u0001"]) {
    const [near, far] = duplexPair();
    const stream = new DockerStream(near, Buffer.alloc(0)).resume();
    far.write(garbage);
    const [error] = (await once(stream, "error")) as [unknown];
    expect(error).toMatchObject({ code: "PROTOCOL", isPermanent: true });
  }
});

test("does not read ahead of a slow reader, nor write ahead of a slow daemon", async () => {
  let produced = 0;
  const frame = encode({ type: 1, content: Buffer.alloc(32_768) });
  const inner = new Duplex({
    read() {
      produced += frame.length;
      this.push(frame);
    },
    write() {
      // Never done: a daemon that stopped reading.
    },
  });
  const stream = new DockerStream(inner, Buffer.alloc(0));
  await once(stream, "readable");
  let accepted = 0;
  while (stream.write(Buffer.alloc(32_768)) && accepted < 100) accepted += 1;
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(produced).toBeLessThan(20 * frame.length);
  expect(stream.writableNeedDrain).toBe(true);
  stream.destroy();
  expect(inner.destroyed).toBe(true);
});
