import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { formatIdentity, livenessOf, parseIdentity, processIdentity } from "@steps/platform";

/** A holder that cannot be seen from here, such as one in another container, counts as gone when it was silent for so long. */
const SILENT_AFTER_MS = 20_000;
const TOUCH_EVERY_MS = 5_000;

/** Takes a folder for this process alone by a file in it; gives what releases it, or the process that has the folder. */
export function lockFolder(file: string): { readonly release: () => void } | { readonly owner: number } {
  for (;;) {
    try {
      writeFileSync(file, formatIdentity(processIdentity()), { flag: "wx", mode: 0o600 });
      return { release: keep(file) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const owner = parseIdentity(readOptional(file));
    if (owner !== undefined && isThere(file, livenessOf(owner))) return { owner: owner.pid };
    rmSync(file, { force: true });
  }
}

function keep(file: string): () => void {
  const touch = setInterval(() => {
    const now = new Date();
    try {
      utimesSync(file, now, now);
    } catch {
      // Somebody removed the file; the folder is still used by this process.
    }
  }, TOUCH_EVERY_MS).unref();
  return () => {
    clearInterval(touch);
    rmSync(file, { force: true });
  };
}

function isThere(file: string, liveness: ReturnType<typeof livenessOf>): boolean {
  if (liveness !== "unknown") return liveness === "alive";
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs < SILENT_AFTER_MS;
}

function readOptional(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
