/**
 * Keeps the beginning and the end of what another program says, for an error message: never more than `maxBytes`, however
 * much arrives.
 */
export class BoundedText {
  readonly #halfBytes: number;
  #head: Uint8Array = new Uint8Array(0);
  #tail: Uint8Array = new Uint8Array(0);
  #omittedBytes = 0;

  constructor(maxBytes = 8192) {
    this.#halfBytes = Math.floor(maxBytes / 2);
  }

  append(chunk: Uint8Array): void {
    const room = this.#halfBytes - this.#head.length;
    if (room > 0) this.#head = concat(this.#head, chunk.subarray(0, room));
    if (chunk.length <= room) return;
    const all = concat(this.#tail, chunk.subarray(Math.max(room, 0)));
    const excess = Math.max(0, all.length - this.#halfBytes);
    this.#omittedBytes += excess;
    this.#tail = all.slice(excess);
  }

  /** The text on trimmed lines, without what would steer a terminal. */
  toString(): string {
    const gap = this.#omittedBytes === 0 ? "" : `\n… ${this.#omittedBytes} bytes left out …\n`;
    return printable(`${decode(this.#head)}${gap}${decode(this.#tail)}`);
  }
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array {
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** A foreign text that may be shown: no escape sequences, no control characters but line ends and tabs, trimmed. */
export function printable(text: string): string {
  const plain = text
    .replaceAll(/\u001B\[[0-9;?]*[ -/]*[@-~]/g, "")
    .replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, "");
  return plain.trim();
}
