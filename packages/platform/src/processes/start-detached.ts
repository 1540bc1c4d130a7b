import { spawn } from "../runtime/index.ts";
import { closeSync, openSync } from "node:fs";
import { formatIdentity, processIdentity } from "../process-identity.ts";
import { readProcessStat } from "../process-stat.ts";
import { coverInherited } from "./inherited-descriptors.ts";

/** A program that outlives whoever starts it. */
export interface DetachedCall {
  /** Absolute. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file that its output is appended to: absolute. */
  readonly log: string;
}

/**
 * Starts a program in a session of its own, with nothing on its standard input. Gives its identity, as `parseIdentity()` reads
 * it; `undefined` when it could not be started. @throws the error of the system for the log
 */
export async function startDetached({ program, args, env, log }: DetachedCall): Promise<string | undefined> {
  const output = openSync(log, "a", 0o600);
  try {
    const child = spawn(program, [...args], {
      cwd: "/",
      env,
      stdio: ["ignore", output, output, ...coverInherited()],
      detached: true,
    });
    const isStarted = await new Promise<boolean>((resolve) => {
      child.once("spawn", () => resolve(true)).once("error", () => resolve(false));
    });
    child.unref();
    const { pid } = child;
    if (!isStarted || pid === undefined) return undefined;
    return formatIdentity({ ...processIdentity(), pid, startTime: readProcessStat(pid)?.startTime ?? "" });
  } finally {
    closeSync(output);
  }
}
