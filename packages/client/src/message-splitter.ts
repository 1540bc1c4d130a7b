import { Code, ConnectError } from "@connectrpc/connect";

const PREFIX_BYTES = 5;

/** Splits the body of a gRPC call into messages: a flag, four bytes of length, and so many bytes each. */
export class MessageSplitter {
  readonly #maxBytes: number;
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  /** The length of the next message in bytes; undefined until its prefix has arrived. */
  #wanted: number | undefined;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** True when no part of a further message has arrived. */
  get isEmpty(): boolean {
    return this.#bytes === 0 && this.#wanted === undefined;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  /** The next message, when it is whole. @throws {ConnectError} for one that is too long, or compressed though nobody asked for it */
  shift(): Uint8Array | undefined {
    if (this.#wanted === undefined) {
      if (this.#bytes < PREFIX_BYTES) return undefined;
      const prefix = this.#take(PREFIX_BYTES);
      if (prefix[0] !== 0) throw new ConnectError(`The service sent a message with flags ${prefix[0]}`, Code.Internal);
      this.#wanted = new DataView(prefix.buffer, prefix.byteOffset).getUint32(1);
      if (this.#wanted > this.#maxBytes)
        throw new ConnectError(`The service sent a message of ${this.#wanted} bytes`, Code.ResourceExhausted);
    }
    if (this.#bytes < this.#wanted) return undefined;
    const message = this.#take(this.#wanted);
    this.#wanted = undefined;
    return message;
  }

  #take(count: number): Uint8Array {
    this.#bytes -= count;
    const [first] = this.#chunks;
    if (first === undefined || count === 0) return new Uint8Array(0);
    if (first.length > count) {
      this.#chunks[0] = first.subarray(count);
      return first.subarray(0, count);
    }
    if (first.length === count) return this.#chunks.shift() as Uint8Array;
    return this.#join(count);
  }

  #join(count: number): Uint8Array {
    const whole = Buffer.allocUnsafeSlow(count);
    let used = 0;
    let at = 0;
    while (at < count) {
      const chunk = this.#chunks[used] as Uint8Array;
      const part = chunk.length > count - at ? chunk.subarray(0, count - at) : chunk;
      whole.set(part, at);
      at += part.length;
      if (part.length < chunk.length) this.#chunks[used] = chunk.subarray(part.length);
      else used++;
    }
    this.#chunks.splice(0, used);
    return whole;
  }
}

/** A message with its prefix. */
export function frame(message: Uint8Array): Uint8Array {
  const framed = new Uint8Array(PREFIX_BYTES + message.length);
  new DataView(framed.buffer).setUint32(1, message.length);
  framed.set(message, PREFIX_BYTES);
  return framed;
}
