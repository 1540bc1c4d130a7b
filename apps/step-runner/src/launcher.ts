import { readFileSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { privateDirectory, stateFailure } from "@steps/engine/runs";
import { ownCommand, steeringVariables } from "@steps/platform/runtime";
import { ownStart } from "./bootstrap/start.ts";

/**
 * Makes a folder with a `step-runner` in it that starts this very program, for scripts that call the command; jobs of
 * GitLab expect it to be there. The folder is the same for every run, so that PATH is.
 *
 * @throws {StepsError} STATE_UNSAFE, STATE_UNUSABLE
 */
export function launcherDirectory(stateDir: string): string {
  const dir = join(stateDir, "bin");
  privateDirectory(stateDir);
  privateDirectory(dir);
  const path = join(dir, "step-runner");
  const draft = `${path}.${process.pid}`;
  const { launcher } = ownStart();
  // There may be no shell.
  const write = launcher === undefined ? writeScript(path, draft) : writeLink(path, draft, launcher);
  if (write === undefined) return dir;
  try {
    rmSync(draft, { force: true });
    write();
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw stateFailure(path, error);
  }
  return dir;
}

// Both give `undefined` where nothing has to be written.
function writeScript(path: string, draft: string): (() => void) | undefined {
  const unset = steeringVariables.length === 0 ? "" : `unset ${steeringVariables.join(" ")}\n`;
  const text = `#!/bin/sh\n${unset}exec ${ownCommand().map(quote).join(" ")} "$@"\n`;
  if (optional(() => readFileSync(path, "utf8")) === text) return undefined;
  return () => writeFileSync(draft, text, { mode: 0o755 });
}

function writeLink(path: string, draft: string, launcher: string): (() => void) | undefined {
  if (optional(() => readlinkSync(path)) === launcher) return undefined;
  return () => symlinkSync(launcher, draft);
}

/** An environment whose PATH has this program first, as `step-runner`: for `set-output` in scripts, however it was started. */
export function withLauncher<T extends Readonly<Record<string, string | undefined>>>(env: T, stateDir: string): T {
  const dir = launcherDirectory(resolve(stateDir));
  const path = env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin";
  return path.split(":").includes(dir) ? env : { ...env, PATH: `${dir}:${path}` };
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Returns the text that is read, or `undefined` if the file is missing or of another kind. */
function optional(read: () => string): string | undefined {
  try {
    return read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EINVAL") return undefined;
    throw error;
  }
}
