import { closeSync, constants, existsSync, mkdirSync, openSync, rmdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { randomHex, spawn } from "@steps/platform/runtime";
import { searchPath } from "./search-path.ts";

/** A pair of named pipes in a folder of their own. */
export class Fifos {
  readonly dir: string;
  readonly stdout: string;
  readonly stderr: string;

  constructor(dir: string) {
    this.dir = dir;
    this.stdout = join(dir, "stdout");
    this.stderr = join(dir, "stderr");
  }
}

/** A program that is there already, and makes pipes with less effort than it takes to start another one. */
export interface PipeMaker {
  /**
   * Makes the pipes `stdout` and `stderr` in a folder, and says whether they are there. `undefined`: it cannot be asked.
   * Never rejects.
   */
  makePipes(dir: string): Promise<boolean> | undefined;
}

/**
 * Makes `count` pairs below an existing private directory. Returns none where there is no `mkfifo`, or no room. Never rejects.
 *
 * @param maker absent: we start a program
 */
export async function makeFifos(dir: string, count = 1, maker?: PipeMaker): Promise<Fifos[]> {
  const pairs = Array.from({ length: count }, () => new Fifos(join(dir, `pipe-${randomHex(8)}`)));
  try {
    for (const pair of pairs) mkdirSync(pair.dir, { mode: 0o700 });
    const all = pairs.flatMap(({ stdout, stderr }) => [stdout, stderr]);
    const asked = await Promise.all(pairs.map((pair) => maker?.makePipes(pair.dir)));
    if (asked.every((isMade) => isMade === true)) return pairs;
    const paths = all.filter((path) => !existsSync(path));
    const child = spawn("mkfifo", ["-m", "600", ...paths], { env: { PATH: searchPath() }, stdio: "ignore" });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once("exit", resolve).once("error", reject);
    });
    return code === 0 ? pairs : [];
  } catch {
    // The directory is full or gone, or there is no such program.
    return [];
  }
}

export function removeFifos(fifos: Fifos): void {
  try {
    unlinkSync(fifos.stdout);
    unlinkSync(fifos.stderr);
    rmdirSync(fifos.dir);
  } catch {
    // They are gone already, or they go with the job's directory.
  }
}

/** Whether nobody reads the pipes of a pair, so that they can serve another process. */
export function areUnread({ stdout, stderr }: Fifos): boolean {
  return !hasReader(stdout) && !hasReader(stderr);
}

// A process may open what it writes to for reading, and would then take what the next one writes. To open a pipe for
// writing without waiting fails if there is no reader.
function hasReader(path: string): boolean {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW));
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENXIO";
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}
