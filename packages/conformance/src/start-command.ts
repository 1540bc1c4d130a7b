import { spawn } from "node:child_process";

/** A program that has ended. */
export interface Ended {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly timeoutMs: number;
}

/** Runs a program to its end and gives what it wrote. The exit code of one ended by a signal is 128. @throws {Error} */
export async function startCommand(command: readonly string[], options: StartOptions): Promise<Ended> {
  const [program = "", ...args] = command;
  const { cwd, env, stdin, timeoutMs } = options;
  const child = spawn(program, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  // Whoever reads no input closes it early.
  child.stdin.on("error", () => undefined);
  child.stdin.end(stdin);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, timeoutMs);
  try {
    const exit = await new Promise<number>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => resolve(code ?? 128));
    });
    const texts = { stdout: Buffer.concat(stdout).toString("utf8"), stderr: Buffer.concat(stderr).toString("utf8") };
    if (isLate) throw new Error(`${command.join(" ")} did not end within ${timeoutMs} ms\n${texts.stderr}`);
    return { exit, ...texts };
  } finally {
    clearTimeout(timer);
  }
}
