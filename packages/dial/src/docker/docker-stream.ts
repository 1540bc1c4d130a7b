import { Duplex } from "node:stream";
import { BoundedText } from "@steps/model/bounded-text";
import { DialError } from "../dial-error.ts";

const HEADER_BYTES = 8;
const STDOUT = 1;
const MAX_TYPE = 3;

/**
 * The stdin and stdout of a process that a Docker daemon runs: written as they are, read from frames (type, three zeros, length
 * as 32 bits big-endian, content). Frames may be split anywhere and be of any length, nothing is gathered. What comes on stderr
 * (and the daemon's own errors) is kept as a bounded text. Stops reading while nobody reads.
 */
export class DockerStream extends Duplex {
  readonly stderr: BoundedText = new BoundedText();
  readonly #socket: Duplex;
  readonly #header: Buffer = Buffer.alloc(HEADER_BYTES);
  #headerBytes = 0;
  #contentBytes = 0;
  #afterDrain: ((error?: Error | null) => void) | undefined;

  /** `head` is what had arrived with the answer to the upgrade. */
  constructor(socket: Duplex, head: Buffer) {
    super({ allowHalfOpen: true });
    this.#socket = socket;
    socket.pause();
    if (head.length > 0) socket.unshift(head);
    socket.on("data", (chunk: Buffer) => this.#onData(chunk));
    socket.on("drain", () => this.#drained());
    socket.on("end", () => this.#onEnd());
    socket.on("error", (error) => this.destroy(error));
    socket.on("close", () => !socket.readableEnded && this.destroy());
  }

  #onData(chunk: Buffer): void {
    let isWanted = true;
    for (let at = 0; at < chunk.length && !this.destroyed;) {
      if (this.#contentBytes === 0) {
        at += this.#takeHeader(chunk, at);
        continue;
      }
      const content = chunk.subarray(at, at + this.#contentBytes);
      at += content.length;
      this.#contentBytes -= content.length;
      if (this.#header[0] === STDOUT) isWanted = this.push(content);
      else this.stderr.append(content);
    }
    if (!isWanted) this.#socket.pause();
  }

  #takeHeader(chunk: Buffer, at: number): number {
    const taken = chunk.copy(this.#header, this.#headerBytes, at, at + HEADER_BYTES - this.#headerBytes);
    this.#headerBytes += taken;
    if (this.#headerBytes < HEADER_BYTES) return taken;
    this.#headerBytes = 0;
    this.#contentBytes = this.#header.readUInt32BE(4);
    const [type, ...zeros] = this.#header.subarray(0, 4);
    if ((type as number) > MAX_TYPE || zeros.some((byte) => byte !== 0)) {
      this.destroy(
        new DialError("PROTOCOL", "The Docker daemon sends something else than frames of stdout and stderr"),
      );
    }
    return taken;
  }

  #onEnd(): void {
    if (this.#headerBytes === 0 && this.#contentBytes === 0) this.push(null);
    else this.destroy(new DialError("UNREACHABLE", "The Docker daemon's stream ended in the middle of a frame"));
  }

  #drained(): void {
    const callback = this.#afterDrain;
    this.#afterDrain = undefined;
    callback?.();
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    if (this.#socket.destroyed || this.#socket.writableEnded)
      callback(new Error("The Docker daemon has closed the stream"));
    else if (this.#socket.write(chunk)) callback();
    else this.#afterDrain = callback;
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#socket.end();
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#afterDrain = undefined;
    this.#socket.destroy();
    callback(error);
  }
}
