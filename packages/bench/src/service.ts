import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { command } from "./measure.ts";

/** A service of the built command, in a home of its own. */
export interface RunningService extends AsyncDisposable {
  readonly socket: string;
  readonly pid: number;
  /** Resident memory in MiB. */
  memory(): number;
}

export async function startService(scratch: string, name: string): Promise<RunningService> {
  const home = join(scratch, name);
  mkdirSync(home);
  const socket = join(home, "s", "s.sock");
  const env = { PATH: process.env["PATH"] ?? "", HOME: home };
  const child = spawn(command, ["serve", "--socket", socket], { env, stdio: ["ignore", "ignore", "pipe"] });
  await waitFor(child, "is listening on socket");
  return {
    socket,
    pid: child.pid as number,
    memory: () => memoryOf(child.pid as number),
    [Symbol.asyncDispose]: () => stop(child),
  };
}

/** Waits for a text on a child's standard error. */
export async function waitFor(child: ChildProcess, text: string): Promise<void> {
  let seen = "";
  for await (const chunk of child.stderr ?? []) {
    seen += String(chunk);
    if (!seen.includes(text)) continue;
    child.stderr?.resume();
    return;
  }
  throw new Error(`The service did not start: ${seen}`);
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

export function memoryOf(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];
  return Number(kibibytes) / 1024;
}
