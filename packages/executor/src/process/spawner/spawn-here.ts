import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { coverInherited } from "@steps/platform/processes";
import type { OutputPipes } from "../../output/output-pipes.ts";
import type { NotSpawned, Spawned, SpawnedEnd, SpawnOrder } from "./spawned.ts";

/** Starts a process as our own child. */
export async function spawnHere(order: SpawnOrder, pipes: OutputPipes): Promise<Spawned | NotSpawned> {
  const child = start(order, pipes);
  if (child instanceof Error) return { spawnError: child };
  const exit = exitOf(child);
  const { pid } = child;
  if (pid === undefined) {
    const { spawnError = new Error("The process has no number") } = await exit;
    return { spawnError };
  }
  const streams = pipes.streams ?? { stdout: child.stdout as Readable, stderr: child.stderr as Readable };
  return { pid, exit, streams };
}

function start({ program, command, workDir, env }: SpawnOrder, pipes: OutputPipes): ChildProcess | Error {
  try {
    return spawn(program, command.slice(1), {
      argv0: command[0] as string,
      cwd: workDir,
      env,
      stdio: [...pipes.stdio, ...coverInherited()],
      detached: true,
    });
  } catch (error) {
    return error as Error;
  } finally {
    pipes.closeWriters();
  }
}

function exitOf(child: ChildProcess): Promise<SpawnedEnd> {
  return new Promise((resolve) => {
    child.on("exit", (code, signalName) => {
      resolve(signalName === null ? { exitCode: code ?? 0 } : { signal: signalName });
    });
    // Only a process that did not start has no exit; other errors are about signals to it.
    child.on("error", (error) => {
      if (child.pid === undefined) resolve({ spawnError: error });
    });
  });
}
