import { spawn } from "node:child_process";
import type { ChildProcess, ChildProcessWithoutNullStreams } from "node:child_process";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { acceptWebSocket } from "./kubernetes-server-websocket.ts";
import type { ServerWebSocket, WebSocketFault } from "./kubernetes-server-websocket.ts";

const STDIN = 0;
const STATUS = 3;
const CLOSE = 255;
const V5 = "v5.channel.k8s.io";

/** The faults of an exec session of the test double. */
export interface ExecFault extends WebSocketFault {
  /** No process is started and nothing is ever sent after the upgrade. */
  readonly isSilent?: boolean;
  /** Waits between the end of the process and its status. */
  readonly delayStatusMs?: number;
  /** Closes cleanly after the process, without saying how it ended. */
  readonly hasNoStatus?: boolean;
  /** Sends the status and keeps the connection open. */
  readonly staysOpen?: boolean;
  /** Reads nothing of what the client sends. */
  readonly isNotReading?: boolean;
  /** Says so on the status channel instead of starting anything, as a server does that cannot reach the node. */
  readonly failure?: string;
  /** Sent on any channel before all else: `[channel, bytes]`. */
  readonly preface?: ReadonlyArray<readonly [channel: number, bytes: string]>;
}

/** A call of the exec sub-resource, as the double saw it. */
export interface ExecSession {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly argv: readonly string[];
  readonly query: URLSearchParams;
  /** The subprotocol that was chosen. */
  readonly protocol: string;
  /** Bytes on the connection after the upgrade. */
  readonly sentBytes: () => number;
  readonly receivedBytes: () => number;
  /** Settles when the process has ended and its outputs are closed; -1 when there never was one. */
  readonly exited: Promise<number>;
  /** Settles when the connection is over. */
  readonly closed: Promise<void>;
  /** Cuts the connection. */
  drop(): void;
}

export interface ExecOptions {
  readonly session: Pick<ExecSession, "namespace" | "pod" | "container" | "argv" | "query">;
  readonly protocol: string;
  readonly fault: ExecFault;
  readonly env: NodeJS.ProcessEnv;
  /** The file that is run, when it is not the one that was asked for. */
  readonly command?: readonly string[] | undefined;
  /** Containerd's way to say that a program is missing is a failed status; Docker's is exit code 127 (126) with a text. */
  readonly missingProgram: "exit-code" | "status";
}

/** Accepts the WebSocket and runs the program on this machine behind it. Returns the session and how to kill its process. */
export function startExec(
  upgrade: { request: IncomingMessage; socket: Duplex; head: Buffer },
  options: ExecOptions,
): { session: ExecSession; kill: () => void } {
  const exited = Promise.withResolvers<number>();
  const closed = Promise.withResolvers<void>();
  const { fault, protocol } = options;
  let child: ChildProcessWithoutNullStreams | undefined;
  const ws: ServerWebSocket = acceptWebSocket(upgrade.request, upgrade.socket, {
    head: upgrade.head,
    protocol,
    fault,
    onMessage: (message) => child !== undefined && receive(message, { child, ws, isV5: protocol === V5 }),
    onDrain: () => void (child?.stdout.resume(), child?.stderr.resume()),
    onClose: () => {
      closed.resolve();
      child?.stdin.end();
      child?.stdout.resume();
      child?.stderr.resume();
    },
  });
  if (fault.isNotReading === true) ws.pause();
  for (const [channel, bytes] of fault.preface ?? []) ws.send(message(channel, Buffer.from(bytes)));
  if (fault.isSilent === true) exited.resolve(-1);
  else if (fault.failure !== undefined) {
    exited.resolve(-1);
    finish(ws, fault, internalError(fault.failure));
  } else child = run(ws, options, exited.resolve);
  const session: ExecSession = {
    ...options.session,
    protocol,
    sentBytes: () => ws.sentBytes,
    receivedBytes: () => ws.receivedBytes,
    exited: exited.promise,
    closed: closed.promise,
    drop: () => ws.drop(),
  };
  return { session, kill: () => child !== undefined && killGroup(child) };
}

function run(
  ws: ServerWebSocket,
  options: ExecOptions,
  exited: (code: number) => void,
): ChildProcessWithoutNullStreams {
  const { query } = options.session;
  const argv = options.command ?? options.session.argv;
  const child = spawn(argv[0] ?? "", argv.slice(1), { env: options.env, stdio: "pipe", detached: true });
  let missing: NodeJS.ErrnoException | undefined;
  child.on("error", (error) => (missing = error));
  const resume = (): void => void (options.fault.isNotReading !== true && ws.resume());
  child.stdin.on("error", resume);
  child.stdin.on("close", resume);
  child.stdin.on("drain", resume);
  if (query.get("stdin") !== "true") child.stdin.end();
  forward(child, { ws, name: "stdout", channel: 1, isWanted: query.get("stdout") === "true" });
  forward(child, { ws, name: "stderr", channel: 2, isWanted: query.get("stderr") === "true" });
  child.on("close", (code, signal) => {
    const exitCode = missing === undefined ? (code ?? (signal === "SIGKILL" ? 137 : 143)) : exitCodeOf(missing);
    exited(exitCode);
    const reason = missing === undefined ? undefined : runtimeText(argv[0] ?? "", missing);
    if (reason === undefined) return finish(ws, options.fault, exitStatus(exitCode));
    if (options.missingProgram === "status") return finish(ws, options.fault, internalError(reason));
    ws.send(message(1, Buffer.from(`${reason}\r\n`)));
    finish(ws, options.fault, exitStatus(exitCode));
  });
  return child;
}

function forward(
  child: ChildProcessWithoutNullStreams,
  {
    ws,
    name,
    channel,
    isWanted,
  }: { ws: ServerWebSocket; name: "stdout" | "stderr"; channel: number; isWanted: boolean },
): void {
  child[name].on("error", () => undefined);
  child[name].on("data", (chunk: Buffer) => {
    if (isWanted && !ws.send(message(channel, chunk))) child[name].pause();
  });
}

function receive(
  bytes: Buffer,
  { child, ws, isV5 }: { child: ChildProcessWithoutNullStreams; ws: ServerWebSocket; isV5: boolean },
): void {
  const [channel, payload] = [bytes[0], bytes.subarray(1)];
  if (channel === CLOSE && isV5 && payload[0] === STDIN) child.stdin.end();
  if (channel !== STDIN || payload.length === 0 || !child.stdin.writable) return;
  if (!child.stdin.write(payload)) ws.pause();
}

function finish(ws: ServerWebSocket, fault: ExecFault, status: object): void {
  const send = (): void => {
    if (fault.hasNoStatus !== true) ws.send(message(STATUS, Buffer.from(JSON.stringify(status))));
    if (fault.staysOpen !== true) ws.close(1000);
  };
  if (fault.delayStatusMs === undefined) send();
  else setTimeout(send, fault.delayStatusMs);
}

function message(channel: number, payload: Uint8Array): Buffer {
  const out = Buffer.allocUnsafe(payload.length + 1);
  out[0] = channel;
  out.set(payload, 1);
  return out;
}

function exitStatus(exitCode: number): object {
  if (exitCode === 0) return { metadata: {}, status: "Success" };
  return {
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: exit status ${exitCode}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(exitCode) }] },
  };
}

function internalError(text: string): object {
  const details = { causes: [{ message: text }] };
  return {
    metadata: {},
    status: "Failure",
    message: `Internal error occurred: ${text}`,
    reason: "InternalError",
    details,
    code: 500,
  };
}

function exitCodeOf(error: NodeJS.ErrnoException): number {
  return error.code === "ENOENT" ? 127 : 126;
}

/** As runc says it. */
function runtimeText(program: string, error: NodeJS.ErrnoException): string {
  const what =
    error.code !== "ENOENT"
      ? "permission denied"
      : program.startsWith("/")
        ? "no such file or directory"
        : "executable file not found in $PATH";
  const stat =
    program.startsWith("/") && error.code === "ENOENT" ? `stat ${program}` : `exec: ${JSON.stringify(program)}`;
  return `OCI runtime exec failed: exec failed: unable to start container process: ${stat}: ${what}: unknown`;
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {}
}
