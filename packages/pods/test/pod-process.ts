import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { onTestFinished } from "vitest";
import type { PodOptions } from "../src/index.ts";
import { podAt, type TestPod } from "./pod-harness.ts";

/** A pod in a process of its own. */
export interface PodProcess extends Omit<TestPod, "stop"> {
  /** Ends the process without a warning. */
  readonly kill: () => Promise<void>;
  readonly terminate: () => Promise<void>;
}

const worker = join(import.meta.dirname, "pod-worker.ts");

type ProcessOptions = PodOptions & { readonly port?: number };
type Child = ChildProcessByStdio<null, Readable, null>;

/** Begins to start a process with a pod. It is killed when the test ends. */
export function spawnPod(options: ProcessOptions): Child {
  const args = ["--conditions=steps-source", worker, JSON.stringify({ port: 0, pollHoldMs: 500, ...options })];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(async () => await endPod(child, "SIGKILL"));
  return child;
}

/** Starts a process with a pod. It is killed when the test ends. */
export async function startProcess(options: ProcessOptions): Promise<PodProcess> {
  const child = spawnPod(options);
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), "line"),
    once(child, "exit").then(([code]) => Promise.reject(new Error(`The pod ended with ${String(code)}`))),
  ])) as [string];
  const { url, adminToken } = JSON.parse(line) as { readonly url: string; readonly adminToken: string };
  return {
    ...podAt(url, adminToken, options.stateDir),
    kill: async () => await endPod(child, "SIGKILL"),
    terminate: async () => await endPod(child, "SIGTERM"),
  };
}

/** Ends a process with a pod. */
export async function endPod(child: Child, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}
