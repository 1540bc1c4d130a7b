import { mkdirSync, readFileSync, writeFileSync, renameSync } from "node:fs";
import { join } from "node:path";

/**
 * Makes a folder with a `step-runner` in it that starts this very program, for scripts that call the command; jobs of
 * GitLab expect it to be there. The folder is the same for every run, so that PATH is.
 */
export function launcherDirectory(stateDir: string): string {
  const dir = join(stateDir, "bin");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const text = `#!/bin/sh\nexec ${quote(process.execPath)} ${quote(process.argv[1] ?? "")} "$@"\n`;
  const path = join(dir, "step-runner");
  if (readOptional(path) !== text) {
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, text, { mode: 0o755 });
    renameSync(draft, path);
  }
  return dir;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
