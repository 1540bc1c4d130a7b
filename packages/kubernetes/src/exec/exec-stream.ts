import { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { BoundedText } from "@steps/model/bounded-text";
import { KubernetesError } from "../kubernetes-error.ts";
import { outcomeOf, parseStatus } from "./exec-outcome.ts";
import type { ExecOutcome, ExecStream } from "./exec-outcome.ts";

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const STATUS = 3;
const CLOSE = 255;
const BUFFER_BYTES = 256 * 1024;
const MESSAGE_BYTES = 64 * 1024;
const MAX_STATUS_BYTES = 64 * 1024;
/** How long the server may be silent after the status before the connection counts as closed. */
const CLOSE_GRACE_MS = 2000;
const MAX_UNANSWERED_PINGS = 2;

type Callback = (error?: Error | null) => void;

export interface ExecStreamOptions {
  /** The name of the stream in messages, such as `"sh -c true" in pod "ci/job"`. */
  readonly name: string;
  readonly pingIntervalMs: number;
  /** Makes the error that the stream ends with out of ours; ours as it is when absent. */
  readonly toError?: ((error: KubernetesError) => Error) | undefined;
}

/**
 * The stdin and stdout of a program that the exec sub-resource runs, on a WebSocket that speaks `v4.channel.k8s.io` or v5: each
 * message is a channel and its bytes. The socket is not read while nobody reads here, and a write is done when the socket has
 * taken it, so at most 256 KiB and one message wait in either direction. stderr is kept in part, for messages.
 *
 * Until {@link SocketExecStream.establish} is called the stream just ends when the program does, and `outcome` says how;
 * from then on any end but exit code 0 destroys it with a {@link KubernetesError}. A connection that closes without a status, however
 * cleanly, is lost. A peer that leaves two pings unanswered is gone; one that we do not listen to is not asked. Ending the
 * writing side closes the program's stdin with v5; v4 has no word for it, and there only destroying the stream does.
 */
export class SocketExecStream extends Duplex implements ExecStream {
  /** How it ended; undefined while it has not. Setting it is told by the event `outcome`. */
  outcome: ExecOutcome | undefined;
  readonly stderr: BoundedText = new BoundedText();
  readonly #ws: WebSocket;
  readonly #name: string;
  readonly #toError: (error: KubernetesError) => Error;
  readonly #pinger: NodeJS.Timeout;
  #graceTimer: NodeJS.Timeout | undefined;
  #status = "";
  #pendingOutcome: ExecOutcome | undefined;
  #isEstablished = false;
  #isStdinClosed = false;
  #wasHeard = true;
  #unansweredPings = 0;

  constructor(ws: WebSocket, { name, pingIntervalMs, toError = (error) => error }: ExecStreamOptions) {
    super({ allowHalfOpen: false, highWaterMark: BUFFER_BYTES });
    this.#ws = ws;
    this.#name = name;
    this.#toError = toError;
    ws.on("message", (data: Buffer, isBinary: boolean) => this.#onMessage(data, isBinary));
    ws.on("pong", () => (this.#wasHeard = true));
    ws.on("ping", () => (this.#wasHeard = true));
    ws.on("error", (error: Error) => this.#finish({ kind: "lost", message: error.message }));
    ws.on("close", (code: number) => {
      this.#finish(this.#pendingOutcome ?? { kind: "lost", message: `it was closed without a status (${code})` });
    });
    this.#pinger = setInterval(() => this.#ping(), pingIntervalMs).unref();
  }

  /** Makes any end other than a clean one an error from now on. */
  establish(): void {
    this.#isEstablished = true;
    if (this.outcome !== undefined && !isGood(this.outcome)) this.#fail();
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    this.#wasHeard = true;
    this.#graceTimer?.refresh();
    if (this.outcome !== undefined) return;
    if (!isBinary) return this.#refuse("a text message");
    // Servers may open each channel with an empty message.
    if (data.length < 2) return;
    const payload = data.subarray(1);
    if (data[0] === STDOUT) this.#onOutput(payload);
    else if (data[0] === STDERR) this.stderr.append(payload);
    else if (data[0] === STATUS) this.#onStatus(payload);
  }

  #refuse(what: string): void {
    this.destroy(this.#toError(new KubernetesError("PROTOCOL", `The server of ${this.#name} sent ${what}`)));
  }

  #onOutput(payload: Buffer): void {
    if (!this.push(payload)) this.#ws.pause();
  }

  #onStatus(payload: Buffer): void {
    if (this.#pendingOutcome !== undefined) return;
    this.#status += payload.toString();
    const status = parseStatus(this.#status);
    if (status === undefined) {
      if (this.#status.length <= MAX_STATUS_BYTES) return;
      return this.#refuse("a status that is none");
    }
    this.#pendingOutcome = outcomeOf(status);
    this.#graceTimer = setInterval(() => this.#endGrace(), CLOSE_GRACE_MS);
  }

  /** Output that came before the status may still wait in the socket of a paused stream. */
  #endGrace(): void {
    if (!this.#ws.isPaused && this.#pendingOutcome !== undefined) this.#finish(this.#pendingOutcome);
  }

  #finish(outcome: ExecOutcome): void {
    if (this.outcome !== undefined || this.destroyed) return;
    this.outcome = outcome;
    this.#release();
    this.emit("outcome");
    if (this.#isEstablished && !isGood(outcome)) this.#fail();
    else this.push(null);
  }

  #fail(): void {
    const message = `The connection to ${this.#name} is over: ${this.describeEnd()}`;
    this.destroy(this.#toError(new KubernetesError("UNREACHABLE", message)));
  }

  /** How it ended, with what the program said on stderr. */
  describeEnd(): string {
    const said = this.stderr.toString();
    return `${describe(this.outcome)}${said === "" ? "" : `: ${said}`}`;
  }

  #ping(): void {
    if (this.#wasHeard || this.#ws.isPaused) this.#unansweredPings = 0;
    else if (++this.#unansweredPings >= MAX_UNANSWERED_PINGS) {
      return this.#finish({ kind: "lost", message: "the server does not answer any more" });
    }
    this.#wasHeard = false;
    if (this.#ws.readyState === this.#ws.OPEN) this.#ws.ping();
  }

  override _read(): void {
    if (!this.#ws.isPaused) return;
    this.#wasHeard = true;
    this.#ws.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    this.#send([chunk], callback);
  }

  override _writev(chunks: Array<{ chunk: Buffer }>, callback: Callback): void {
    this.#send(
      chunks.map(({ chunk }) => chunk),
      callback,
    );
  }

  #send(chunks: readonly Buffer[], callback: Callback): void {
    if (this.outcome !== undefined || this.#ws.readyState !== this.#ws.OPEN) {
      return callback(this.#lost());
    }
    const messages = packMessages(chunks);
    const last = messages.length - 1;
    if (last < 0) return callback();
    const done = (error?: Error | null): void => callback(error ? this.#lost(error) : null);
    messages.forEach((message, index) => {
      this.#ws.send(message, { binary: true, compress: false }, index === last ? done : undefined);
    });
  }

  #lost(cause?: Error): Error {
    const why = cause === undefined ? "" : `: ${cause.message}`;
    return this.#toError(
      new KubernetesError("UNREACHABLE", `The connection to ${this.#name} is over${why}`, { cause }),
    );
  }

  override _final(callback: Callback): void {
    this.#closeStdin();
    callback();
  }

  #closeStdin(): void {
    const { readyState, protocol, OPEN } = this.#ws;
    if (this.#isStdinClosed || readyState !== OPEN || !protocol.startsWith("v5.")) return;
    this.#isStdinClosed = true;
    this.#ws.send(Buffer.from([CLOSE, STDIN]));
  }

  #release(): void {
    clearInterval(this.#pinger);
    clearInterval(this.#graceTimer);
    this.#ws.terminate();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    // The server drops its end when ours is gone; closing stdin first lets the program end by itself also where that is slow.
    this.#closeStdin();
    this.#release();
    callback(error);
  }
}

/** Joins small pieces and cuts large ones, each message with the channel before it. */
function packMessages(chunks: readonly Buffer[]): Buffer[] {
  const all = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
  const messages: Buffer[] = [];
  for (let at = 0; at < all.length; at += MESSAGE_BYTES) {
    const piece = all.subarray(at, at + MESSAGE_BYTES);
    const message = Buffer.allocUnsafe(piece.length + 1);
    message[0] = STDIN;
    message.set(piece, 1);
    messages.push(message);
  }
  return messages;
}

function isGood(outcome: ExecOutcome): boolean {
  return outcome.kind === "exited" && outcome.exitCode === 0;
}

function describe(outcome: ExecOutcome | undefined): string {
  if (outcome === undefined) return "it did not answer";
  if (outcome.kind === "exited") return `it ended with exit code ${outcome.exitCode}`;
  return outcome.message;
}
