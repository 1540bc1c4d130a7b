import { checkOptionNames, type OptionNames } from "@steps/model";
import { userInfo } from "node:os";
import type { Duplex } from "node:stream";
import { printable } from "@steps/model/bounded-text";
import { DialError } from "../dial-error.ts";
import type { Dial } from "../dial.ts";
import { untilHttp2 } from "../expect-http2.ts";
import { withoutHint } from "../proxy.ts";
import { shellCommand } from "./shell-quote.ts";
import { readSshConfig } from "./ssh-config.ts";
import { ChannelRefused, type SshConnection, type SshTarget } from "./ssh-connection.ts";
import { SshPool } from "./ssh-pool.ts";
import { isSocketPath, proxyCommandLine, remoteSocketPlaces } from "./ssh-remote.ts";
import type { SshStream } from "./ssh-stream.ts";
import type { StrictHostKey } from "./strict-host-key.ts";

/** A host with an SSH server, and how to get from there to the service. */
export interface SshOptions {
  /** A name or an address. */
  readonly host: string;
  /** Default: the user of this process. */
  readonly user?: string | undefined;
  /** Default: 22. */
  readonly port?: number | undefined;
  /** Private keys. Default: `id_ed25519`, `id_ecdsa`, `id_rsa` in `~/.ssh`, after the agent's. */
  readonly identityFiles?: readonly string[] | undefined;
  /** Opens keys that are encrypted. */
  readonly passphrase?: string | undefined;
  /** The socket of an agent; `false` for none. Default: `SSH_AUTH_SOCK`. */
  readonly agent?: string | false | undefined;
  /** Default: ssh's own, of the user and of the machine. */
  readonly knownHostsFiles?: readonly string[] | undefined;
  /** Whether hosts that are not known are refused (`yes`, the default) or added to the first of the files (`accept-new`). */
  readonly strictHostKey?: StrictHostKey | undefined;
  /** A command on the host whose stdin and stdout are the connection, instead of all else that would be tried. */
  readonly proxyCommand?: readonly string[] | undefined;
  /** The service's socket on the host. Default: its usual places. */
  readonly socket?: string | undefined;
  /** Whether a service is started on the host where none listens, by `step-runner proxy --start`. Default: no. */
  readonly startsService?: boolean | undefined;
  /** How often a silent connection is tested; three times without an answer and it is lost. Default: 15 s. */
  readonly keepaliveMs?: number | undefined;
  /** How long connecting and logging in may take. Default: 20 s. */
  readonly connectTimeoutMs?: number | undefined;
  /** Whether `~/.ssh/config` counts where nothing is said here, as the program `ssh` reads it. Default: no. */
  readonly usesSshConfig?: boolean | undefined;
}

/** Dials over one SSH connection, until it is disposed of; with it go all streams. */
export interface SshDialer extends AsyncDisposable {
  readonly dial: Dial;
}

interface Way {
  readonly kind: "socket" | "command";
  /** The socket's path, or the command line. */
  readonly where: string;
}

const LAST_WORDS_MS = 1000;

const OPTION_NAMES: OptionNames<SshOptions> = {
  host: true,
  user: true,
  port: true,
  identityFiles: true,
  passphrase: true,
  agent: true,
  knownHostsFiles: true,
  strictHostKey: true,
  proxyCommand: true,
  socket: true,
  startsService: true,
  keepaliveMs: true,
  connectTimeoutMs: true,
  usesSshConfig: true,
};

/**
 * Dials by way of an SSH server. Each dial is a channel of one connection, which is made at the first and again when it is lost:
 * a channel straight to the service's unix socket; where the server forwards none, or nothing answers there, a proxy that is
 * started on the host. The way that worked is tried first the next time.
 *
 * Throws `ADDRESS_INVALID` for options that make no sense. Dialling rejects with `UNREACHABLE` (nobody answers), `DENIED` (the
 * host's key is not the known one, or no key of ours is taken), `NO_SERVICE` (no socket, no proxy, or nothing behind it; the
 * message has what the proxy said) or `PROTOCOL`. Nobody is ever asked for a password.
 */
export function createSshDialer(options: SshOptions): SshDialer {
  checkOptionNames("createSshDialer()", options, OPTION_NAMES);
  checkOptions(options);
  const pool = new SshPool(options.host, () => targetOf(options));
  const dialer = new Dialer(pool, options);
  return { dial: (signal) => dialer.dial(signal), [Symbol.asyncDispose]: () => pool.close() };
}

class Dialer {
  readonly #pool: SshPool;
  readonly #options: SshOptions;
  #working: Way | undefined;

  constructor(pool: SshPool, options: SshOptions) {
    this.#pool = pool;
    this.#options = options;
  }

  async dial(signal: AbortSignal): Promise<Duplex> {
    for (let isFirst = true; ; isFirst = false) {
      const connection = await this.#pool.acquire(signal);
      try {
        return await this.#tryWays(connection, signal);
      } catch (error) {
        signal.throwIfAborted();
        // It was lost some time ago, and only now did we see it.
        if (!isFirst || connection.lost?.code !== "UNREACHABLE") throw error;
      }
    }
  }

  async #tryWays(connection: SshConnection, signal: AbortSignal): Promise<Duplex> {
    const failures: string[] = [];
    const known = this.#working;
    if (known !== undefined) {
      const stream = await this.#try(known, { connection, signal, failures });
      if (stream !== undefined) return stream;
      this.#working = undefined;
    }
    for (const way of await this.#ways(signal)) {
      if (way.kind === known?.kind && way.where === known.where) continue;
      const stream = await this.#try(way, { connection, signal, failures });
      if (stream === undefined) continue;
      this.#working = way;
      return stream;
    }
    throw new DialError("NO_SERVICE", `No service answers on '${this.#options.host}': ${failures.join("; ")}`, {
      hint:
        this.#options.startsService === true
          ? "Install step-runner there, on the PATH of shells that are not logged in."
          : "Start the service there with 'step-runner serve', or name its socket.",
    });
  }

  async #ways(signal: AbortSignal): Promise<Way[]> {
    const { proxyCommand, socket, startsService } = this.#options;
    if (proxyCommand !== undefined) return [{ kind: "command", where: shellCommand(proxyCommand) }];
    const paths = socket === undefined ? await this.#places(signal) : [socket];
    const sockets = paths.map((where): Way => ({ kind: "socket", where }));
    return [...sockets, { kind: "command", where: proxyCommandLine({ socket, starts: startsService }) }];
  }

  async #places(signal: AbortSignal): Promise<string[]> {
    try {
      return await remoteSocketPlaces((command) => this.#pool.exec(command, signal));
    } catch (error) {
      // Accounts may be for forwarding only; then the socket has to be named.
      if (error instanceof ChannelRefused) return [];
      throw error;
    }
  }

  /** The stream, or a word to `failures` on why this way does not lead there. */
  async #try(
    { kind, where }: Way,
    { connection, signal, failures }: { connection: SshConnection; signal: AbortSignal; failures: string[] },
  ): Promise<Duplex | undefined> {
    try {
      const stream =
        kind === "socket" ? await connection.openSocket(where, signal) : await this.#pool.exec(where, signal);
      const explain = (text: string): Promise<DialError> =>
        kind === "socket" ? explainSocket(where, text) : explainCommand(stream, text);
      return await untilHttp2(stream, explain, { signal });
    } catch (error) {
      if (connection.lost !== undefined) throw connection.lost;
      if (error instanceof ChannelRefused) {
        failures.push(
          kind === "socket" ? `nobody listens at '${where}', or it is not forwarded` : "it starts no commands",
        );
      } else if (error instanceof DialError && (error.code === "NO_SERVICE" || error.code === "PROTOCOL")) {
        failures.push(error.message);
      } else throw error;
      return undefined;
    }
  }
}

async function explainSocket(path: string, text: string): Promise<DialError> {
  const said = printable(text);
  if (said === "") return new DialError("NO_SERVICE", `what listens at '${path}' closes the connection`);
  return new DialError("PROTOCOL", `what listens at '${path}' does not speak HTTP/2: ${said}`);
}

async function explainCommand(stream: SshStream, text: string): Promise<DialError> {
  await untilClosed(stream);
  const said = withoutHint([stream.stderr, printable(text)].filter((words) => words !== "").join("\n"));
  const { exit } = stream;
  const end = exit === undefined ? "stopped" : exit.signal === undefined ? `exit status ${exit.code}` : exit.signal;
  if (stream.isClosed) return new DialError("NO_SERVICE", `the proxy ended (${end})${said === "" ? "" : `: ${said}`}`);
  return new DialError("PROTOCOL", `the proxy does not speak HTTP/2: ${said}`);
}

/** A command that is about to end still says why. */
async function untilClosed(stream: SshStream): Promise<void> {
  if (stream.isClosed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, LAST_WORDS_MS);
  stream.once("channel-close", resolve);
  await promise;
  clearTimeout(timer);
}

async function targetOf(options: SshOptions): Promise<SshTarget> {
  const { host, user, port } = options;
  const config = options.usesSshConfig === true ? await readSshConfig(host, { user, port }) : undefined;
  return {
    host: config?.address ?? host,
    hostKeyAlias: config?.hostKeyAlias,
    user: user ?? config?.user ?? userInfo().username,
    port: port ?? config?.port ?? 22,
    identityFiles: options.identityFiles ?? config?.identityFiles,
    skipsMissingFiles: options.identityFiles === undefined,
    passphrase: options.passphrase,
    agent: options.agent ?? config?.agent,
    knownHostsFiles: options.knownHostsFiles ?? config?.knownHostsFiles,
    strictHostKey: options.strictHostKey ?? "yes",
    keepaliveMs: options.keepaliveMs ?? 15_000,
    connectTimeoutMs: options.connectTimeoutMs ?? 20_000,
  };
}

function checkOptions({ host, user, port, socket, proxyCommand }: SshOptions): void {
  const isName = (text: string): boolean => text !== "" && !text.startsWith("-") && !/[\s\0-\u001F\u007F]/.test(text);
  const fail = (message: string): never => {
    throw new DialError("ADDRESS_INVALID", message);
  };
  if (!isName(host) || host.length > 255) fail(`'${printable(host)}' is no name of a host`);
  if (user !== undefined && !isName(user)) fail(`'${printable(user)}' is no name of a user`);
  if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65_536)) fail(`'${port}' is no port`);
  if (socket !== undefined && !isSocketPath(socket)) fail(`'${printable(socket)}' is no path of a unix socket`);
  if (proxyCommand?.length === 0 || proxyCommand?.some((word) => word.includes("\0")) === true)
    fail("The proxy's command is empty or holds a zero byte");
}
