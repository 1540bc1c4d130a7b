import { Duplex } from "node:stream";
import type { ClientChannel } from "ssh2";
import { BoundedText } from "@steps/model/bounded-text";

/** How a remote command ended. */
export interface SshExit {
  readonly code: number | undefined;
  /** The name of the signal, as in `SIGKILL`. */
  readonly signal: string | undefined;
}

/**
 * A channel as an ordinary stream: what the other side sends is read, what is written goes there once there is room. Destroying
 * it closes the channel. The event `channel-close` says that the server has closed it too.
 */
export class SshStream extends Duplex {
  readonly #channel: ClientChannel;
  readonly #stderr = new BoundedText();
  #exit: SshExit | undefined;
  #isClosed = false;

  constructor(channel: ClientChannel) {
    super({ allowHalfOpen: true });
    this.#channel = channel;
    channel.on("data", (chunk: Buffer) => {
      if (!this.push(chunk)) channel.pause();
    });
    channel.on("end", () => this.push(null));
    channel.on("error", (error: Error) => this.destroy(error));
    channel.on("exit", (code: number | null, signal?: string) => {
      this.#exit = { code: code ?? undefined, signal };
    });
    channel.on("close", () => this.#onClose());
    channel.stderr.on("data", (chunk: Buffer) => this.#stderr.append(chunk));
    channel.stderr.on("error", () => undefined);
    channel.pause();
  }

  /** The beginning and the end of the command's stderr so far. */
  get stderr(): string {
    return this.#stderr.toString();
  }

  /** Known once the command has ended and its server says so. */
  get exit(): SshExit | undefined {
    return this.#exit;
  }

  /** The server has closed the channel, or the connection is lost. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  // Only the side that reads may still have something to do; nobody takes what is written any more.
  #onClose(): void {
    this.#isClosed = true;
    this.emit("channel-close");
    if (this.readableEnded) this.destroy();
    else this.once("end", () => this.destroy());
  }

  override _read(): void {
    this.#channel.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    if (this.#isClosed || !this.#channel.writable) callback(new Error("The other side has closed the stream"));
    else this.#channel.write(chunk, callback);
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#channel.end();
    callback();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#channel.destroy();
    // Data that still arrives is dropped: a channel closes only when all of it has been read.
    this.#channel.removeAllListeners("data");
    this.#channel.resume();
    callback(error);
  }
}
