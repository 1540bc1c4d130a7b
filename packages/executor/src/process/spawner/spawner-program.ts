/** A process that the spawner is asked to start. */
export interface SpawnRequest {
  readonly id: number;
  /** Absolute. */
  readonly program: string;
  readonly argv0: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Named pipes for its output, which somebody reads. */
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * A line that the spawner writes: that it is ready; then, for each request, that it was refused, or the process and later
 * its end.
 */
export type SpawnerAnswer =
  | { readonly isReady: true }
  | { readonly id: number; readonly isRefused: true }
  | { readonly id: number; readonly pid: number }
  | { readonly id: number; readonly exitCode: number | null; readonly signal: string | null };

/** The name under which the system lists a spawner that is ready. */
export const SPAWNER_TITLE = "steps-spawner";

/**
 * The spawner's program. Its text is given to a Node of its own, so it must not use anything from outside of it.
 *
 * It is told what ends the runner's whole group too, such as Ctrl-C, and must not go before the runner has ended its steps;
 * what it starts has none of its signal handlers.
 */
export function runSpawner(title: string): void {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const { closeSync, constants, fstatSync, openSync, writeSync } = process.getBuiltinModule("node:fs");
  const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

  for (const signal of ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2"]) process.on(signal, () => {});

  function answer(text: SpawnerAnswer): void {
    writeSync(1, `${JSON.stringify(text)}\n`);
  }

  // A reader first: without one, such as when somebody has put a pipe of his own there, the writer would wait for ever.
  function openWriter(path: string, opened: number[]): number {
    const reader = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    try {
      if (!fstatSync(reader).isFIFO()) throw new Error("Not a pipe");
      const writer = openSync(path, O_WRONLY | O_NOFOLLOW);
      opened.push(writer);
      return writer;
    } finally {
      closeSync(reader);
    }
  }

  function start({ id, program, argv0, args, cwd, env, stdout, stderr }: SpawnRequest): void {
    const opened: number[] = [];
    try {
      const stdio = ["ignore", openWriter(stdout, opened), openWriter(stderr, opened)] as const;
      const child = spawn(program, args, { argv0, cwd, env, stdio: [...stdio], detached: true });
      child.on("exit", (exitCode, signal) => answer({ id, exitCode, signal }));
      // Others are about signals to it.
      child.on("error", () => {
        if (child.pid === undefined) answer({ id, isRefused: true });
      });
      if (child.pid !== undefined) answer({ id, pid: child.pid });
    } catch {
      answer({ id, isRefused: true });
    } finally {
      for (const fd of opened) closeSync(fd);
    }
  }

  let rest = "";
  process.stdin.setEncoding("utf8").on("data", (text: string) => {
    const lines = `${rest}${text}`.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) start(JSON.parse(line) as SpawnRequest);
  });
  process.stdin.on("close", () => process.exit());
  answer({ isReady: true });
  process.title = title;
}
