import { chmodSync, lstatSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

const leftovers = new Set<string>();
let isHooked = false;

/**
 * A new empty folder (its real path), removed when the current test ends; called outside a test (in `beforeAll`), when
 * the process ends.
 */
export function tempDir(prefix = "steps-"): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  try {
    onTestFinished(() => removeTree(dir));
  } catch {
    // Not inside a test: vitest has no end to hook into.
    leftovers.add(dir);
    if (!isHooked) {
      isHooked = true;
      process.on("exit", () => leftovers.forEach(removeTree));
    }
  }
  return dir;
}

/** Runs a function with a new empty folder that is removed afterwards, whatever happens. */
export async function withTempDir<T>(run: (dir: string) => Promise<T>, prefix = "steps-"): Promise<T> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  try {
    return await run(dir);
  } finally {
    removeTree(dir);
  }
}

/** Removes a tree, read-only folders too. */
function removeTree(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // A read-only folder does not let go of its files unless it is opened first.
    unlock(path);
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

function unlock(path: string): void {
  if (!lstatSync(path).isDirectory()) return;
  chmodSync(path, 0o700);
  for (const name of readdirSync(path)) unlock(join(path, name));
}
