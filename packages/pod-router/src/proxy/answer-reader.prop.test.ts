import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AnswerError, AnswerReader } from "./answer-reader.ts";

interface Read {
  status: number | undefined;
  headers: readonly string[];
  body: string;
  isWhole: boolean;
  keepsAlive: boolean;
}

/** Reads an answer that arrives in pieces of these sizes, the last of which come again and again. */
function read(bytes: Buffer, sizes: readonly number[], method = "GET", ends = false): Read {
  const seen: Read = { status: undefined, headers: [], body: "", isWhole: false, keepsAlive: false };
  const reader = new AnswerReader(method, {
    onHead: ({ status, rawHeaders }) => Object.assign(seen, { status, headers: rawHeaders }),
    onBytes: (some) => (seen.body += some.toString("latin1")),
    onEnd: () => (seen.isWhole = true),
  });
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1;
    reader.read(Buffer.from(bytes.subarray(at, at + size)));
    at += size;
  }
  if (ends) reader.close();
  return { ...seen, keepsAlive: reader.keepsAlive };
}

const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 });
const bodies = fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 300 }).map((bytes) => Buffer.from(bytes));
const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

function chunked(body: Buffer, sizes: readonly number[]): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0, turn = 0; at < body.length; turn++) {
    const size = Math.min(sizes[turn % sizes.length] ?? 1, body.length - at);
    parts.push(latin1(`${size.toString(16)};a=b\r\n`), body.subarray(at, at + size), latin1("\r\n"));
    at += size;
  }
  return Buffer.concat([...parts, latin1("0\r\nTrailer: x\r\n\r\n")]);
}

describe("AnswerReader", () => {
  test("gives the same answer however the bytes are cut, whatever says where it ends", () => {
    fc.assert(
      fc.property(bodies, cuts, cuts, (body, sizes, chunks) => {
        const forms = [
          { framing: `Content-Length: ${body.length}`, bytes: body },
          { framing: "Transfer-Encoding: chunked", bytes: chunked(body, chunks) },
        ];
        for (const { framing, bytes } of forms) {
          const answer = Buffer.concat([
            latin1(`HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 416 No\r\nRange: 0-7\r\n${framing}\r\n\r\n`),
            bytes,
          ]);
          const seen = read(answer, sizes);
          expect(seen).toMatchObject({ status: 416, body: body.toString("latin1"), isWhole: true, keepsAlive: true });
          expect(seen.headers.slice(0, 2)).toEqual(["Range", "0-7"]);
          // One byte less, and it is not whole.
          expect(read(answer.subarray(0, -1), sizes).isWhole).toBe(false);
        }
      }),
    );
  });

  test("an answer without a length is whole when the connection ends, and not before", () => {
    const answer = latin1("HTTP/1.0 200 OK\r\n\r\nsome bytes");
    expect(read(answer, [3])).toMatchObject({ body: "some bytes", isWhole: false });
    expect(read(answer, [3], "GET", true)).toMatchObject({ body: "some bytes", isWhole: true, keepsAlive: false });
  });

  test("204, 304 and answers to HEAD have no body, whatever their headers say", () => {
    for (const [status, method] of [
      [204, "GET"],
      [304, "GET"],
      [200, "HEAD"],
    ] as const) {
      for (const framing of ["Content-Length: 5\r\n", "Transfer-Encoding: chunked\r\n", ""]) {
        const seen = read(latin1(`HTTP/1.1 ${status} x\r\n${framing}\r\n`), [7], method);
        expect(seen).toMatchObject({ status, body: "", isWhole: true, keepsAlive: true });
      }
    }
  });

  test("a connection that its pod closes is not used again", () => {
    const seen = read(latin1("HTTP/1.1 200 OK\r\nConnection: x, close\r\nContent-Length: 0\r\n\r\n"), [9]);
    expect(seen).toMatchObject({ isWhole: true, keepsAlive: false });
  });

  test.each([
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx"],
    ["a length twice", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx"],
    ["a length and chunks", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nx"],
    ["a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\nx"],
    ["another coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\nx"],
    ["a folded header", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n"],
    ["a space before the colon", "HTTP/1.1 200 OK\r\nContent-Length : 1\r\n\r\nx"],
    ["a name that is none", "HTTP/1.1 200 OK\r\nA(b): c\r\n\r\n"],
    ["a value that nobody may pass on", "HTTP/1.1 200 OK\r\nA: \x01\r\n\r\n"],
    ["a reason that nobody may pass on", "HTTP/1.1 200 O\x01K\r\n\r\n"],
    ["another protocol", "HTTP/2 200 OK\r\n\r\n"],
    ["a protocol that nobody asked for", "HTTP/1.1 101 Switching\r\n\r\n"],
    ["bytes behind the answer", "HTTP/1.1 204 No\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"],
    ["a chunk without a size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n"],
    ["a chunk that is longer than it says", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n"],
    ["a head without an end", `HTTP/1.1 200 OK\r\nA: ${"x".repeat(70_000)}`],
    ["a line without an end", `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;${"x".repeat(5000)}`],
  ])("is not fooled by %s", (_, text) => {
    expect(() => read(latin1(text), [1000])).toThrow(AnswerError);
  });

  test("takes no longer for spaces than for letters", () => {
    const value = `b${" ".repeat(60_000)}c`;
    // A reader that takes a time with the square of the spaces needs many seconds for each.
    for (let turn = 0; turn < 10; turn++)
      expect(read(latin1(`HTTP/1.1 204 No\r\nA:  ${value} \r\n\r\n`), [70_000]).headers).toEqual(["A", value]);
  });
});
