import { spawn } from "../runtime/index.ts";
import { coverInherited } from "./inherited-descriptors.ts";
import { signalGroup } from "./send-signal.ts";

/** A program that is asked something. */
export interface BriefCall {
  /** Absolute. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** How much of what it writes is taken; by default 16 Ki. */
  readonly maxChars?: number;
  /** What it reads from its standard input; by default nothing. */
  readonly input?: string;
}

/** How it answered. */
export interface BriefAnswer {
  /** `null`: it was killed, or could not be started. */
  readonly exitCode: number | null;
  /** The beginning of what it wrote. */
  readonly stdout: string;
  readonly stderr: string;
  readonly isTimedOut: boolean;
  readonly startError?: Error;
}

const MAX_CHARS = 16 * 1024;

/**
 * Runs a program that has one thing to say, in a process group of its own. It and what it started are killed when the time is
 * over or the signal is aborted; never rejects.
 */
export async function runBriefly(call: BriefCall): Promise<BriefAnswer> {
  const { promise, resolve } = Promise.withResolvers<BriefAnswer>();
  const stdio = [call.input === undefined ? "ignore" : "pipe", "pipe", "pipe", ...coverInherited()] as const;
  let child: ReturnType<typeof spawn>;
  try {
    child = spawn(call.program, [...call.args], { cwd: "/", env: call.env, stdio: [...stdio], detached: true });
  } catch (error) {
    return { exitCode: null, stdout: "", stderr: "", isTimedOut: false, startError: error as Error };
  }
  const { maxChars = MAX_CHARS } = call;
  const text = { stdout: "", stderr: "" };
  const kill = (): void => {
    if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
  };
  const finish = (answer: Pick<BriefAnswer, "exitCode" | "isTimedOut" | "startError">): void => {
    clearTimeout(timer);
    call.signal?.removeEventListener("abort", stop);
    kill();
    child.stdout?.destroy();
    child.stderr?.destroy();
    resolve({ ...text, ...answer });
  };
  const stop = (): void => {
    const hasEnded = child.exitCode !== null;
    finish({ exitCode: child.exitCode, isTimedOut: !hasEnded && call.signal?.aborted !== true });
  };
  const timer = setTimeout(stop, call.timeoutMs);
  call.signal?.addEventListener("abort", stop, { once: true });
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      text[name] = (text[name] + chunk).slice(0, maxChars);
    });
  }
  child.on("error", (startError) => finish({ exitCode: null, isTimedOut: false, startError }));
  // A process that the program started may hold its pipes open for any time.
  child.on("exit", kill);
  child.on("close", (exitCode) => finish({ exitCode, isTimedOut: false }));
  // A program that does not read its input has its own way to fail.
  child.stdin?.on("error", () => undefined).end(call.input);
  if (call.signal?.aborted === true) stop();
  return await promise;
}
