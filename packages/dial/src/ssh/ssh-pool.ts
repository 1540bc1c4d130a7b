import { DialError } from "../dial-error.ts";
import { ChannelRefused, SshConnection, type SshTarget } from "./ssh-connection.ts";
import type { SshStream } from "./ssh-stream.ts";

const MAX_CONNECTIONS = 16;

interface Opening {
  readonly promise: Promise<SshConnection>;
  readonly controller: AbortController;
  waiters: number;
}

/**
 * One connection for everything, made when it is needed and made again when it is lost. Servers allow some 10 commands on each
 * (MaxSessions): where one more is refused, a further connection is opened, and closed when its last command has ended.
 */
export class SshPool {
  readonly #target: () => Promise<SshTarget>;
  readonly #host: string;
  #connections: SshConnection[] = [];
  #opening: Opening | undefined;
  #isClosed = false;

  constructor(host: string, target: () => Promise<SshTarget>) {
    this.#host = host;
    this.#target = target;
  }

  /** A connection that is alive. Rejects with a {@link DialError} or the signal's reason. */
  async acquire(signal: AbortSignal): Promise<SshConnection> {
    signal.throwIfAborted();
    return this.#alive()[0] ?? (await this.#open(signal));
  }

  /** Starts a command on a connection that has room for it. Rejects with {@link ChannelRefused} if the server starts none at all. */
  async exec(command: string, signal: AbortSignal): Promise<SshStream> {
    await this.acquire(signal);
    for (;;) {
      const roomy = this.#alive().find((one) => one.sessions < one.maxSessions);
      const connection = roomy ?? (await this.#openAnother(signal));
      try {
        return await connection.exec(command, signal);
      } catch (error) {
        if (!(error instanceof ChannelRefused) || connection.sessions === 0) throw error;
        connection.maxSessions = connection.sessions;
      }
    }
  }

  /** Closes everything. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#opening?.controller.abort(closedError());
    await Promise.all(this.#connections.splice(0).map((connection) => connection.close()));
  }

  #alive(): readonly SshConnection[] {
    this.#connections = this.#connections.filter((connection) => connection.lost === undefined);
    return this.#connections;
  }

  #openAnother(signal: AbortSignal): Promise<SshConnection> {
    if (this.#connections.length < MAX_CONNECTIONS) return this.#open(signal);
    return Promise.reject(new DialError("UNREACHABLE", `The host '${this.#host}' starts no more commands for now`));
  }

  /**
   * Callers that need a connection while one is being made wait for it. When nobody waits any more the attempt is given
   * up.
   */
  async #open(signal: AbortSignal): Promise<SshConnection> {
    const opening = (this.#opening ??= this.#start());
    opening.waiters += 1;
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await Promise.race([opening.promise, aborted]);
    } finally {
      signal.removeEventListener("abort", onAbort);
      opening.waiters -= 1;
      if (opening.waiters === 0) {
        opening.controller.abort();
        if (this.#opening === opening) this.#opening = undefined;
      }
    }
  }

  #start(): Opening {
    if (this.#isClosed) throw closedError();
    const controller = new AbortController();
    const opening: Opening = { promise: this.#connect(controller.signal), controller, waiters: 0 };
    const forget = (): void => {
      if (this.#opening === opening) this.#opening = undefined;
    };
    opening.promise.then(forget, forget);
    return opening;
  }

  async #connect(signal: AbortSignal): Promise<SshConnection> {
    const connection = await SshConnection.open(await this.#target(), signal);
    if (signal.aborted) {
      await connection.close();
      signal.throwIfAborted();
    }
    const isExtra = this.#alive().length > 0;
    this.#connections.push(connection);
    if (isExtra) {
      connection.onIdle = () => {
        this.#connections = this.#connections.filter((other) => other !== connection);
        void connection.close();
      };
    }
    return connection;
  }
}

function closedError(): DialError {
  return new DialError("ADDRESS_INVALID", "The SSH dialer was closed");
}
