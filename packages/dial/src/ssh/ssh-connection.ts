import { connect, type Socket } from "node:net";
import type { Client, ClientChannel } from "ssh2";
import { DialError } from "../dial-error.ts";
import { type SshAuth, sshAuth, type SshAuthOptions } from "./ssh-auth.ts";
import { connectError, type SshFailure } from "./ssh-failure.ts";
import { type HostKeyOptions, type HostKeys, loadHostKeys } from "./ssh-host-keys.ts";
import { SshStream } from "./ssh-stream.ts";

/** The host, the user, and the means to verify the server. */
export interface SshTarget extends SshAuthOptions, HostKeyOptions {
  readonly keepaliveMs: number;
  readonly connectTimeoutMs: number;
}

/** The server did not open a channel, or not for this. */
export class ChannelRefused extends Error {}

// GCM is computed by OpenSSL in one pass; ssh2's ChaCha20 is JavaScript. What is left is for servers that have no GCM.
const CIPHERS = ["aes128-gcm@openssh.com", "aes256-gcm@openssh.com", "aes128-ctr", "aes256-ctr"] as const;
const KEEPALIVE_COUNT = 3;
const CLOSE_TIMEOUT_MS = 1000;

/** One connection to an SSH server, with any number of channels. */
export class SshConnection {
  readonly #client: Client;
  readonly #socket: Socket;
  readonly #target: SshTarget;
  readonly #streams = new Set<SshStream>();
  #sessions = 0;
  #lost: DialError | undefined;
  /** How many sessions the server allows, as far as it is known. */
  maxSessions: number = Number.POSITIVE_INFINITY;

  private constructor(client: Client, socket: Socket, target: SshTarget) {
    this.#client = client;
    this.#socket = socket;
    this.#target = target;
  }

  /** Connects, checks the host's key and logs in. Rejects with a {@link DialError} or the signal's reason; nothing is left then. */
  static async open(target: SshTarget, signal: AbortSignal): Promise<SshConnection> {
    const [{ default: ssh2 }, hostKeys, auth] = await Promise.all([
      import("ssh2"),
      loadHostKeys(target),
      sshAuth(target),
    ]);
    signal.throwIfAborted();
    const socket = connect({ host: target.host, port: target.port });
    socket.setNoDelay(true);
    const client = new ssh2.Client();
    const connection = new SshConnection(client, socket, target);
    try {
      await connection.#logIn({ hostKeys, auth }, signal);
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return connection;
  }

  async #logIn(has: { readonly hostKeys: HostKeys; readonly auth: SshAuth }, signal: AbortSignal): Promise<void> {
    const { hostKeys, auth } = has;
    const failure: SshFailure = { refusal: undefined, error: undefined, notes: [...auth.notes] };
    let recorded: Promise<void> = Promise.resolve();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const client = this.#client;
    client.on("error", (error: Error & { level?: string }) => {
      // ssh2 goes on to the next way to log in.
      if (error.level === "agent") failure.notes.push(`The agent: ${error.message}`);
      else failure.error ??= error;
    });
    client.on("handshake", () => {
      recorded = hostKeys.record();
      recorded.catch(reject);
    });
    client.once("ready", resolve);
    this.#socket.once("close", () => {
      reject(connectError(failure, this.#target));
      this.#lose(failure.error);
    });
    client.connect({
      sock: this.#socket,
      username: this.#target.user,
      authHandler: auth.methods,
      readyTimeout: this.#target.connectTimeoutMs,
      keepaliveInterval: this.#target.keepaliveMs,
      keepaliveCountMax: KEEPALIVE_COUNT,
      algorithms: { cipher: [...CIPHERS], serverHostKey: hostKeys.algorithms, compress: ["none"] },
      hostVerifier: (key: Buffer): boolean => {
        failure.refusal = hostKeys.verify(key);
        return failure.refusal === undefined;
      },
    });
    try {
      await promise;
      await recorded;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** Why there is no connection any more. */
  get lost(): DialError | undefined {
    return this.#lost;
  }

  /** How many commands run. */
  get sessions(): number {
    return this.#sessions;
  }

  /** Called when the last stream is gone and no command is about to start. */
  onIdle: (() => void) | undefined;

  #checkIdle(): void {
    if (this.#streams.size === 0 && this.#sessions === 0) this.onIdle?.();
  }

  /** A stream to a unix socket there. Rejects with {@link ChannelRefused}, a {@link DialError} or the signal's reason. */
  openSocket(path: string, signal: AbortSignal): Promise<SshStream> {
    return this.#open((callback) => this.#client.openssh_forwardOutStreamLocal(path, callback), signal);
  }

  /** Starts a command, given to the user's shell. Rejects as `openSocket()` does. */
  async exec(command: string, signal: AbortSignal): Promise<SshStream> {
    this.#sessions += 1;
    const release = (): void => {
      this.#sessions -= 1;
      this.#checkIdle();
    };
    try {
      const stream = await this.#open((callback) => this.#client.exec(command, callback), signal);
      stream.once("channel-close", release);
      return stream;
    } catch (error) {
      release();
      throw error;
    }
  }

  #open(
    start: (callback: (error: Error | undefined, channel: ClientChannel) => void) => void,
    signal: AbortSignal,
  ): Promise<SshStream> {
    const { promise, resolve, reject } = Promise.withResolvers<SshStream>();
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    let isWanted = true;
    const onAbort = (): void => {
      isWanted = false;
      reject(signal.reason);
    };
    signal.throwIfAborted();
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      start((error, channel) => {
        signal.removeEventListener("abort", onAbort);
        if (error) reject(this.#lost ?? new ChannelRefused(error.message, { cause: error }));
        else {
          const stream = this.#adopt(channel);
          if (isWanted) resolve(stream);
          else stream.destroy();
        }
      });
    } catch (cause) {
      // ssh2 throws where the socket is no longer writable.
      signal.removeEventListener("abort", onAbort);
      reject(this.#lost ?? this.#lossOf(cause));
    }
    return promise;
  }

  #adopt(channel: ClientChannel): SshStream {
    const stream = new SshStream(channel);
    this.#streams.add(stream);
    stream.once("close", () => {
      this.#streams.delete(stream);
      this.#checkIdle();
    });
    return stream;
  }

  #lossOf(cause: unknown): DialError {
    const reason = cause instanceof Error && cause.message !== "" ? `: ${cause.message}` : "";
    return new DialError("UNREACHABLE", `The SSH connection to '${this.#target.host}' was lost${reason}`, { cause });
  }

  #lose(cause: unknown): void {
    this.#lost ??= this.#lossOf(cause);
    for (const stream of this.#streams) stream.destroy(this.#lost);
  }

  /** Closes every stream and says goodbye; cuts the connection if the server takes more than a second to answer. */
  async close(): Promise<void> {
    this.#lost ??= new DialError("ADDRESS_INVALID", "The SSH dialer was closed");
    // Without an error: whoever closes has no use for one.
    for (const stream of this.#streams) stream.destroy();
    if (this.#socket.destroyed) return;
    const closed = new Promise<void>((resolve) => this.#socket.once("close", () => resolve()));
    this.#client.end();
    const timer = setTimeout(() => this.#socket.destroy(), CLOSE_TIMEOUT_MS);
    await closed;
    clearTimeout(timer);
  }
}
