/** The first part of an answer. */
export interface AnswerHead {
  readonly status: number;
  readonly reason: string;
  /** Names and values in a row, with the spelling and the order that they came with. */
  readonly rawHeaders: readonly string[];
}

/** Takes the parts of an answer as they arrive. */
export interface AnswerParts {
  readonly onHead: (head: AnswerHead) => void;
  readonly onBytes: (bytes: Buffer) => void;
  /** The answer is whole. */
  readonly onEnd: () => void;
}

/** The bytes of a pod that are no answer by RFC 9112. */
export class AnswerError extends Error {}

/** The most bytes of a head, and of the line before a chunk. */
const MAX_HEAD = 64 * 1024;
const MAX_LINE = 4096;
const END_OF_HEAD = Buffer.from("\r\n\r\n");

type State = "head" | "length" | "close" | "chunk line" | "chunk" | "chunk end" | "trailers" | "done";

/**
 * Reads one answer of HTTP/1.1 from the bytes of a connection, however they are cut. Informational answers are passed over, trailers
 * are dropped, and the bytes of a chunked body come without their framing.
 */
export class AnswerReader {
  readonly #parts: AnswerParts;
  readonly #hasNoBody: boolean;
  #state: State = "head";
  /** The bytes that are left of the body or of the chunk. */
  #left = 0;
  /** The beginning of a head or of a line whose end has not arrived. */
  #begun: Buffer | undefined;
  #keepsAlive = false;
  #idleSeconds: number | undefined;

  constructor(method: string, parts: AnswerParts) {
    this.#hasNoBody = method === "HEAD";
    this.#parts = parts;
  }

  /** Whether another request may follow on the connection, once the answer is whole. */
  get keepsAlive(): boolean {
    return this.#keepsAlive && this.#state === "done";
  }

  /** The seconds for which the pod says that it keeps the connection without a request. */
  get idleSeconds(): number | undefined {
    return this.#idleSeconds;
  }

  /** @throws {AnswerError} */
  read(bytes: Buffer): void {
    let rest = this.#begun === undefined ? bytes : Buffer.concat([this.#begun, bytes]);
    this.#begun = undefined;
    while (rest.length > 0) rest = this.#step(rest);
  }

  /** The connection has ended. Gives whether the answer is whole, which only then can be known of some. */
  close(): boolean {
    if (this.#state === "close") this.#end();
    return this.#state === "done";
  }

  /** Takes some bytes and gives those that are left. */
  #step(bytes: Buffer): Buffer {
    switch (this.#state) {
      case "head":
        return this.#readHead(bytes);
      case "length":
      case "chunk":
        return this.#readCounted(bytes);
      case "close":
        this.#parts.onBytes(bytes);
        return bytes.subarray(bytes.length);
      case "chunk line":
      case "chunk end":
      case "trailers":
        return this.#readLine(bytes);
      case "done":
        throw new AnswerError("there are bytes behind the answer");
    }
  }

  #readHead(bytes: Buffer): Buffer {
    const end = bytes.indexOf(END_OF_HEAD);
    if (end > MAX_HEAD || (end < 0 && bytes.length > MAX_HEAD)) throw new AnswerError("the head is too large");
    if (end < 0) return this.#wait(bytes);
    const head = parseHead(bytes.toString("latin1", 0, end));
    if (head.status === 101) throw new AnswerError("nobody asked for another protocol");
    if (head.status >= 200) this.#begin(head);
    return bytes.subarray(end + END_OF_HEAD.length);
  }

  #begin(head: AnswerHead & Framing): void {
    const { status, length, isChunked } = head;
    this.#keepsAlive = head.keepsAlive;
    this.#idleSeconds = head.idleSeconds;
    this.#left = length ?? 0;
    const hasNoBody = this.#hasNoBody || status === 204 || status === 304 || (length === 0 && !isChunked);
    this.#state = isChunked ? "chunk line" : length === undefined ? "close" : "length";
    this.#parts.onHead(head);
    if (hasNoBody) this.#end();
  }

  #readCounted(bytes: Buffer): Buffer {
    const some = bytes.length > this.#left ? bytes.subarray(0, this.#left) : bytes;
    this.#left -= some.length;
    this.#parts.onBytes(some);
    if (this.#left === 0) {
      if (this.#state === "chunk") this.#state = "chunk end";
      else this.#end();
    }
    return bytes.subarray(some.length);
  }

  #readLine(bytes: Buffer): Buffer {
    const end = bytes.indexOf(10);
    if (end > MAX_LINE || (end < 0 && bytes.length > MAX_LINE)) throw new AnswerError("a line is too long");
    if (end < 0) return this.#wait(bytes);
    if (bytes[end - 1] !== 13) throw new AnswerError("a line does not end as one");
    this.#takeLine(bytes.toString("latin1", 0, end - 1));
    return bytes.subarray(end + 1);
  }

  #takeLine(line: string): void {
    if (this.#state === "trailers") {
      if (line === "") this.#end();
    } else if (this.#state === "chunk end") {
      if (line !== "") throw new AnswerError("a chunk is longer than it says");
      this.#state = "chunk line";
    } else {
      const size = /^([\da-f]{1,13})[ \t]*(?:;|$)/i.exec(line)?.[1];
      if (size === undefined) throw new AnswerError("a chunk has no size");
      this.#left = Number.parseInt(size, 16);
      this.#state = this.#left === 0 ? "trailers" : "chunk";
    }
  }

  #wait(bytes: Buffer): Buffer {
    this.#begun = bytes;
    return bytes.subarray(bytes.length);
  }

  #end(): void {
    this.#state = "done";
    this.#parts.onEnd();
  }
}

/** The headers of an answer that say where it ends, and whether the connection is kept. */
interface Framing {
  readonly length: number | undefined;
  readonly isChunked: boolean;
  readonly keepsAlive: boolean;
  readonly idleSeconds: number | undefined;
}

function parseHead(text: string): AnswerHead & Framing {
  const [first = "", ...lines] = text.split("\r\n");
  const start = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/.exec(first);
  if (start === null) throw new AnswerError("the first line is none of HTTP/1.1");
  const rawHeaders: string[] = [];
  let length: number | undefined;
  let isChunked = false;
  let keepsAlive = start[1] === "1";
  let idleSeconds: number | undefined;
  for (const line of lines) {
    const [name, value] = parseHeader(line);
    rawHeaders.push(name, value);
    switch (name.toLowerCase()) {
      case "content-length":
        length = lengthOf(value, length);
        break;
      case "transfer-encoding":
        if (value.toLowerCase() !== "chunked" || isChunked) throw new AnswerError("the transfer coding is not known");
        isChunked = true;
        break;
      case "connection":
        if (/(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(value)) keepsAlive = false;
        break;
      case "keep-alive":
        idleSeconds = Number(/(?:^|[ ,])timeout=(\d{1,6})/i.exec(value)?.[1] ?? NaN);
        break;
    }
  }
  if (isChunked && length !== undefined) throw new AnswerError("the answer has two lengths");
  return {
    status: Number(start[2]),
    reason: start[3] ?? "",
    rawHeaders,
    length,
    isChunked,
    keepsAlive,
    idleSeconds: Number.isNaN(idleSeconds) ? undefined : idleSeconds,
  };
}

const NAME = /^[!#$%&'*+.^_`|~\da-z-]+$/i;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Spaces around a value are none of it. They are counted, since a pattern takes seconds for many of them. */
function parseHeader(line: string): readonly [name: string, value: string] {
  const colon = line.indexOf(":");
  const name = line.slice(0, Math.max(0, colon));
  let start = colon + 1;
  let end = line.length;
  while (start < end && isSpace(line.charCodeAt(start))) start++;
  while (start < end && isSpace(line.charCodeAt(end - 1))) end--;
  const value = line.slice(start, end);
  if (!NAME.test(name) || !VALUE.test(value)) throw new AnswerError("a line of the head is no header");
  return [name, value];
}

function isSpace(code: number): boolean {
  return code === 32 || code === 9;
}

function lengthOf(value: string, before: number | undefined): number {
  const length = /^\d{1,15}$/.test(value) ? Number(value) : NaN;
  if (Number.isNaN(length)) throw new AnswerError("the length of the answer is no number");
  // Also where both say the same: they would go on to the client, which takes none that has two.
  if (before !== undefined) throw new AnswerError("the answer has two lengths");
  return length;
}
