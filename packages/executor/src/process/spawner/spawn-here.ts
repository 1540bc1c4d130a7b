import type { ChildProcess } from "node:child_process";
import { coverInherited } from "@steps/platform/processes";
import { spawn, startLeader } from "@steps/platform/runtime";
import type { OutputPipes } from "../../output/output-pipes.ts";
import type { NotSpawned, Spawned, SpawnedEnd, SpawnOrder } from "./spawned.ts";

/** Starts a process as our own child. */
export async function spawnHere(order: SpawnOrder, pipes: OutputPipes): Promise<Spawned | NotSpawned> {
  try {
    return startDirectly(order, pipes) ?? (await startChild(order, pipes));
  } catch (error) {
    return { spawnError: error as Error };
  } finally {
    pipes.closeWriters();
  }
}

function startDirectly(order: SpawnOrder, { stdio, streams }: OutputPipes): Spawned | undefined {
  const [stdin, stdout, stderr] = stdio;
  if (streams === undefined || stdout === "pipe" || stderr === "pipe") return undefined;
  const leader = startLeader({ ...order, stdio: [stdin, stdout, stderr, ...coverInherited()] });
  return leader && { pid: leader.pid, exit: leader.exit.then(endOf), streams };
}

async function startChild(order: SpawnOrder, pipes: OutputPipes): Promise<Spawned | NotSpawned> {
  const { program, command, workDir, env } = order;
  const child = spawn(program, command.slice(1), {
    argv0: command[0] as string,
    cwd: workDir,
    env,
    stdio: [...pipes.stdio, ...coverInherited()],
    detached: true,
  });
  const exit = exitOf(child);
  const { pid } = child;
  if (pid === undefined) {
    const { spawnError = new Error("The process has no number") } = await exit;
    return { spawnError };
  }
  const { stdout, stderr } = child;
  const streams = pipes.streams ?? (stdout && stderr && { stdout, stderr });
  if (!streams) throw new Error("The process has no output");
  return { pid, exit, streams };
}

function exitOf(child: ChildProcess): Promise<SpawnedEnd> {
  return new Promise((resolve) => {
    child.on("exit", (code, signal) => resolve(endOf({ code, signal })));
    // Only a process that did not start has no exit; other errors are about signals to it.
    child.on("error", (error) => {
      if (child.pid === undefined) resolve({ spawnError: error });
    });
  });
}

function endOf({ code, signal }: { readonly code: number | null; readonly signal: string | null }): SpawnedEnd {
  return signal === null ? { exitCode: code ?? 0 } : { signal };
}
