import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";
import { complain } from "@steps/console/terminal";
import { messageOf } from "@steps/model";

/**
 * The index in `/proc/PID/stat` of the first address of the environment, counted after the name. The end of the
 * environment follows it.
 */
const ENV_START = 47;

/**
 * The engine reads these when it connects for the first time, and the last one at its end (`scripts/pack.mjs`); Bun does so from this
 * memory. They name files, and hold no secret.
 */
const KEPT = ["NODE_EXTRA_CA_CERTS=", "SSL_CERT_FILE=", "SSL_CERT_DIR=", "BUN_BYTECODE_ORDER_OUT="];

/**
 * Empties what the system shows as the environment of this process: every process of the same user can read
 * `/proc/PID/environ`, and the steps are such processes. The variables themselves stay, in memory that is shown nowhere; those
 * that name files for the engine are still shown.
 * To be called before the first step; where it cannot be done, it is said.
 */
export function hideEnvironment(): void {
  try {
    const stat = readStat();
    if (stat === undefined) return;
    const [start = 0, end = 0] = stat.split(" ").slice(ENV_START).map(Number);
    // The C library keeps its own copy of a variable that is set, and no longer needs what the process was started with.
    Object.assign(process.env, { ...process.env });
    if (end > start) clearMemory(start, end - start);
  } catch (error) {
    complain(`Steps can read the environment that this program was started with: ${messageOf(error)}`);
  }
}

/** `undefined` where there is no `/proc`, and nothing to hide. */
function readStat(): string | undefined {
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    // The name may hold anything, blanks and parentheses too.
    return stat.slice(stat.lastIndexOf(")") + 2);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function clearMemory(start: number, length: number): void {
  const memory = openSync("/proc/self/mem", "r+");
  try {
    const shown = Buffer.alloc(length);
    readSync(memory, shown, 0, length, start);
    const written = writeSync(memory, cleared(shown), 0, length, start);
    if (written !== length) throw new Error("/proc/self/mem was written only in part");
  } finally {
    closeSync(memory);
  }
}

function cleared(environment: Buffer): Buffer {
  const result = Buffer.alloc(environment.length);
  let start = 0;
  for (const variable of environment.toString("latin1").split("\0")) {
    if (KEPT.some((name) => variable.startsWith(name))) result.write(variable, start, "latin1");
    start += variable.length + 1;
  }
  return result;
}
