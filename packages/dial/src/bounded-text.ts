/**
 * Keeps the beginning and the end of what another program says, for an error message: never more than `maxBytes`, however
 * much arrives.
 */
export class BoundedText {
  readonly #halfBytes: number;
  #head: Buffer = Buffer.alloc(0);
  #tail: Buffer = Buffer.alloc(0);
  #omittedBytes = 0;

  constructor(maxBytes = 8192) {
    this.#halfBytes = Math.floor(maxBytes / 2);
  }

  append(chunk: Uint8Array): void {
    const room = this.#halfBytes - this.#head.length;
    if (room > 0) this.#head = Buffer.concat([this.#head, chunk.subarray(0, room)]);
    if (chunk.length <= room) return;
    const all = Buffer.concat([this.#tail, chunk.subarray(Math.max(room, 0))]);
    const excess = Math.max(0, all.length - this.#halfBytes);
    this.#omittedBytes += excess;
    this.#tail = Buffer.from(all.subarray(excess));
  }

  /** The text on trimmed lines, without what would steer a terminal. */
  toString(): string {
    const gap = this.#omittedBytes === 0 ? "" : `\n… ${this.#omittedBytes} bytes left out …\n`;
    return printable(`${this.#head.toString()}${gap}${this.#tail.toString()}`);
  }
}

/** A foreign text that may be shown: no escape sequences, no control characters but line ends and tabs, trimmed. */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are what this removes
  const plain = text
    .replaceAll(/\u001B\[[0-9;?]*[ -/]*[@-~]/g, "")
    .replaceAll(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g, "");
  return plain.trim();
}

/** What a proxy said without its own advice, which is for those who start it. */
export function withoutHint(words: string): string {
  return words.replaceAll(/\n {2}hint: .*/g, "");
}
