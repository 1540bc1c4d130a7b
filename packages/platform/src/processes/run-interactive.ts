import { spawn } from "../runtime/index.ts";

/** A program that a person uses on the terminal of this process. */
export interface InteractiveCall {
  /** A name that is on the path of `env`, or a path. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly workDir: string;
  /** An abort sends the program HUP, as a terminal that is closed does. */
  readonly signal: AbortSignal;
}

/**
 * Runs a program with standard input and standard error of this process until it ends, however it ends. It writes everything to
 * standard error, because standard output may be read by another program.
 *
 * @throws {Error} of the system, when it cannot be started
 */
export async function runInteractive({ program, args, env, workDir, signal }: InteractiveCall): Promise<void> {
  const started = spawn(program, args, { cwd: workDir, env, stdio: [0, 2, 2] });
  const stop = (): void => void started.kill("SIGHUP");
  signal.addEventListener("abort", stop, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      started.on("error", reject);
      started.on("exit", () => resolve());
    });
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
