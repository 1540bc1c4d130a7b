import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import { ServiceError } from "./service-error.ts";

const GRACE_MS = 5000;

/**
 * Waits for a byte on standard input, then runs a command with it, in a process group of its own, and gives its exit
 * status, 128 and the number of the signal that ended it. 0 if standard input ends before
 * anything came, or the signal is aborted. Once the command runs, an abort ends its group: TERM, and KILL after 5 seconds.
 *
 * @throws {ServiceError} COMMAND_UNUSABLE if there is no such program or it cannot be started
 */
export async function runSession(command: readonly string[], signal: AbortSignal): Promise<number> {
  const first = await firstChunk(signal);
  if (first === undefined) return 0;
  const [file = "", ...args] = command;
  const child = spawn(file, args, { stdio: ["pipe", "inherit", "inherit"], detached: true });
  const status = exitStatus(child, file);
  feed(child, first);
  const release = endOnAbort(child, signal);
  try {
    return await status;
  } finally {
    release();
    process.stdin.destroy();
  }
}

// Node cannot ask whether there is something without taking it, so what was taken goes before the rest.
function firstChunk(signal: AbortSignal): Promise<Buffer | undefined> {
  const { stdin } = process;
  return new Promise((resolve) => {
    const finish = (chunk: Buffer | undefined): void => {
      stdin.pause();
      stdin.off("data", finish).off("end", end).off("close", end).off("error", end);
      signal.removeEventListener("abort", end);
      if (chunk === undefined) stdin.destroy();
      resolve(chunk);
    };
    const end = (): void => finish(undefined);
    stdin.on("data", finish).on("end", end).on("close", end).on("error", end);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}

function feed(child: ChildProcess, first: Buffer): void {
  const { stdin } = child;
  if (stdin === null) return;
  // A command need not read what it is given.
  stdin.on("error", () => process.stdin.destroy());
  process.stdin.on("error", () => stdin.end());
  stdin.write(first);
  process.stdin.pipe(stdin);
}

function exitStatus(child: ChildProcess, file: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("error", (cause: NodeJS.ErrnoException) => {
      const reason = cause.code === "ENOENT" ? "there is no such program" : (cause.code ?? cause.message);
      reject(new ServiceError("COMMAND_UNUSABLE", `Cannot start "${file}": ${reason}`, { cause }));
    });
    child.once("exit", (code, name) => resolve(code ?? 128 + (name === null ? 0 : constants.signals[name])));
  });
}

function endOnAbort(child: ChildProcess, signal: AbortSignal): () => void {
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    endGroup(child, "SIGTERM");
    timer = setTimeout(() => endGroup(child, "SIGKILL"), GRACE_MS);
  };
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  return () => {
    signal.removeEventListener("abort", end);
    clearTimeout(timer);
    // Processes that the command left running in its group end with it.
    if (timer !== undefined) endGroup(child, "SIGKILL");
  };
}

function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // Nobody is left.
  }
}
