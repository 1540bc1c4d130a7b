import { bun } from "./engine.ts";

/** A program to start as the leader of a session of its own. */
export interface LeaderOrder {
  /** Absolute. */
  readonly program: string;
  /** With the name that the program is told to have. */
  readonly command: readonly string[];
  readonly workDir: string;
  /** All of it. */
  readonly env: Readonly<Record<string, string>>;
  /** A descriptor of ours for each of the process's, or `/dev/null`. */
  readonly stdio: readonly ("ignore" | number)[];
}

/** A process that was started. */
export interface Leader {
  readonly pid: number;
  /** Never rejects. The name of the signal is `null` for a process that has ended by itself. */
  readonly exit: Promise<{ readonly code: number | null; readonly signal: string | null }>;
}

/**
 * Starts a process with less effort than `node:child_process` takes in this engine. `undefined` where that is the shortest way.
 *
 * @throws {Error} with the code of the system when the process cannot be started
 */
export function startLeader({ program, command, workDir, env, stdio }: LeaderOrder): Leader | undefined {
  if (bun === undefined) return undefined;
  const exit = Promise.withResolvers<Awaited<Leader["exit"]>>();
  const [argv0 = program, ...args] = command;
  const { pid } = bun.spawn([program, ...args], {
    argv0,
    cwd: workDir,
    env,
    stdio,
    detached: true,
    onExit: (_process, code, signal) => exit.resolve({ code, signal }),
  });
  return { pid, exit: exit.promise };
}
