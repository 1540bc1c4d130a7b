import { setTimeout as sleep } from "node:timers/promises";
import { printable } from "@steps/model/bounded-text";
import { DialError } from "../dial-error.ts";
import type { Dial } from "../dial.ts";
import { askDocker, type DockerRequest, messageOfAnswer } from "./docker-api.ts";
import { type DockerHost, type DockerHostOptions, readDockerHost } from "./docker-host.ts";
import { DockerStream } from "./docker-stream.ts";
import { untilHttp2 } from "../expect-http2.ts";
import { PROXY_COMMANDS, withoutHint } from "../proxy.ts";
import type { Duplex } from "node:stream";

/** A container, and what to run in it. */
export interface DockerTarget extends DockerHostOptions {
  /** Name or id. */
  readonly container: string;
  /** Commands that connect their stdio with the service, tried in this order until one exists; {@link PROXY_COMMANDS} by default. */
  readonly commands?: readonly (readonly string[])[];
  /** `USER[:GROUP]` to run it as; the container's own by default. */
  readonly user?: string;
}

const KEEP_ALIVE_MS = 15_000;
const STATUS_POLLS = 40;
const STATUS_POLL_MS = 25;

/**
 * Dials by running the proxy in a container: `POST /containers/NAME/exec`, then `POST /exec/ID/start` whose connection becomes
 * the stream. The command that worked is tried first the next time. Destroying the stream ends the connection, which is the end
 * of the proxy's stdin; a proxy then ends by itself (Docker has no way to end an exec).
 *
 * Rejects with `NOT_FOUND` (no such container), `UNREACHABLE` (it does not run, or the daemon cannot be reached or is silent for
 * 10 s), `DENIED` (socket or certificates), `NO_SERVICE` (no proxy in it, or one that finds no service: the message has its
 * stderr), `ADDRESS_INVALID` or `PROTOCOL`.
 */
export function dialDocker(target: DockerTarget): Dial {
  let commands = target.commands ?? PROXY_COMMANDS;
  return async (signal) => {
    signal.throwIfAborted();
    if (target.container === "") throw new DialError("ADDRESS_INVALID", "The container has no name");
    if (commands.length === 0 || commands.some((command) => command.length === 0)) {
      throw new DialError("ADDRESS_INVALID", "The command of the proxy is empty");
    }
    const host = await readDockerHost(target);
    const attempt = { host, target, signal, timeoutMs: target.timeoutMs };
    const missing: string[] = [];
    for (const command of commands) {
      try {
        const stream = await execute(attempt, command);
        commands = [command, ...commands.filter((other) => other !== command)];
        return stream;
      } catch (error) {
        if (!(error instanceof MissingProgram)) throw error;
        missing.push(error.message);
      }
    }
    throw noProxy(target.container, missing);
  };
}

interface Attempt {
  readonly host: DockerHost;
  readonly target: DockerTarget;
  readonly signal: AbortSignal;
  readonly timeoutMs: number | undefined;
}

/** The command is not there or cannot be executed, so the next one is tried. */
class MissingProgram extends DialError {
  constructor(message: string) {
    super("NO_SERVICE", message);
  }
}

async function execute(attempt: Attempt, command: readonly string[]): Promise<Duplex> {
  const id = await createExec(attempt, command);
  const request: DockerRequest = {
    method: "POST",
    path: `/exec/${id}/start`,
    body: { Detach: false, Tty: false },
    upgrade: true,
  };
  const answer = await askDocker(attempt.host, request, attempt);
  if (!("socket" in answer)) throw refusal(attempt, answer, command);
  answer.socket.setNoDelay(true);
  answer.socket.setKeepAlive(true, KEEP_ALIVE_MS); // A remote daemon may vanish without a word.
  const stream = new DockerStream(answer.socket, answer.head);
  return await untilHttp2(stream, (text) => explain(attempt, { id, command, stream, text }), {
    signal: attempt.signal,
  });
}

async function createExec(attempt: Attempt, command: readonly string[]): Promise<string> {
  const { container, user } = attempt.target;
  const attached = { AttachStdin: true, AttachStdout: true, AttachStderr: true, Tty: false };
  const body = { ...attached, Cmd: command, ...(user !== undefined && { User: user }) };
  const path = `/containers/${encodeURIComponent(container)}/exec`;
  const answer = await askDocker(attempt.host, { method: "POST", path, body }, attempt);
  if ("socket" in answer) answer.socket.destroy();
  const text = "text" in answer ? answer.text : "";
  if (answer.status !== 201) throw refusal(attempt, { status: answer.status, text }, command);
  const id = field(text, "Id");
  if (typeof id === "string" && /^\w+$/.test(id)) return id;
  throw new DialError("PROTOCOL", `The Docker daemon at ${attempt.host.name} gave no id for a command to execute`);
}

/** Why the daemon did not do what it was asked for. */
function refusal(attempt: Attempt, answer: { status: number; text: string }, command: readonly string[]): DialError {
  const { status } = answer;
  const words = messageOfAnswer(answer.text);
  const container = `Container '${attempt.target.container}'`;
  const daemon = `The Docker daemon at ${attempt.host.name}`;
  if (status === 404 && /no such container/i.test(words)) {
    return new DialError("NOT_FOUND", `${container} does not exist at ${attempt.host.name}: ${words}`);
  }
  // Newer daemons refuse to start what cannot be executed, older ones say so on the stream.
  if (status !== 409 && /exec failed|executable file not found|OCI runtime/i.test(words)) {
    return new MissingProgram(`'${command.join(" ")}': ${words}`);
  }
  if (status === 409 || (status === 404 && /no such exec/i.test(words))) {
    return new DialError("UNREACHABLE", `${container} cannot be entered: ${words}`);
  }
  if (status === 401 || status === 403) return new DialError("DENIED", `${daemon} does not allow it: ${words}`);
  if (status === 400 && /HTTPS server/i.test(words)) {
    const hint = "Give the TLS options, or set DOCKER_TLS_VERIFY and DOCKER_CERT_PATH";
    return new DialError("ADDRESS_INVALID", `${daemon} wants TLS`, { hint });
  }
  if (status >= 500) return new DialError("UNREACHABLE", `${daemon} failed with status ${status}: ${words}`);
  const what = status < 300 ? "does not give the connection away; a proxy before it may not let upgrades pass" : words;
  return new DialError("PROTOCOL", `${daemon} answered with status ${status}: ${what}`);
}

interface Silence {
  readonly id: string;
  readonly command: readonly string[];
  readonly stream: DockerStream;
  readonly text: string;
}

/** Why no HTTP/2 came out of a command: the daemon knows how it ended. */
async function explain(attempt: Attempt, { id, command, stream, text }: Silence): Promise<DialError> {
  const name = command.join(" ");
  const status = await exitStatus(attempt, id);
  const words = withoutHint([stream.stderr.toString(), printable(text)].filter((part) => part !== "").join("\n"));
  const quoted = words === "" ? "" : `: ${words}`;
  if (status === 126 || status === 127) return new MissingProgram(`'${name}'${quoted}`);
  const where = `in container '${attempt.target.container}'`;
  if (status !== undefined) {
    const message = `'${name}' ${where} ended with exit status ${status} before a service answered${quoted}`;
    return new DialError("NO_SERVICE", message, {
      hint: "Start the service in the container with 'step-runner serve', or name its socket to the proxy",
    });
  }
  if (words === "") return new DialError("UNREACHABLE", `The connection to '${name}' ${where} was lost`);
  return new DialError("PROTOCOL", `'${name}' ${where} speaks something else than HTTP/2${quoted}`);
}

/** The exit status of an exec, which the daemon may learn a little after its output ended; undefined while it runs. */
async function exitStatus(attempt: Attempt, id: string): Promise<number | undefined> {
  for (let poll = 0; poll < STATUS_POLLS; poll += 1) {
    const answer = await askDocker(attempt.host, { method: "GET", path: `/exec/${id}/json` }, attempt);
    if (!("text" in answer) || answer.status !== 200) return undefined;
    const code = field(answer.text, "ExitCode");
    if (field(answer.text, "Running") === false && typeof code === "number") return code;
    await sleep(STATUS_POLL_MS, undefined, { signal: attempt.signal });
  }
  return undefined;
}

function field(json: string, name: string): unknown {
  try {
    const parsed: unknown = JSON.parse(json);
    return typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>)[name] : undefined;
  } catch {
    return undefined;
  }
}

function noProxy(container: string, missing: readonly string[]): DialError {
  return new DialError(
    "NO_SERVICE",
    `No step runner can be executed in container '${container}':\n${missing.join("\n")}`,
    {
      hint: "Put step-runner on the PATH of the container, or name the command with --proxy",
      // A service may still start; a program does not come by itself.
      isPermanent: true,
    },
  );
}
