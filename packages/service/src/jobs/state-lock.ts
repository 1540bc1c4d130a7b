import { randomUUID } from "node:crypto";
import {
  constants,
  copyFileSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ownerOf } from "@steps/engine/runs";
import { ServiceError } from "../service-error.ts";

const MAX_ATTEMPTS = 10;

/**
 * Takes a state directory for this process, also from a process that is dead. The function given back lets it go.
 *
 * @throws {ServiceError} STATE_IN_USE
 */
export function lockState(stateDir: string): () => void {
  const path = join(stateDir, "owner");
  const own = `${path}.${randomUUID()}`;
  // A link appears with all of its content.
  writeFileSync(own, ownerOf(process.pid), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (tryLink(own, path)) return () => rmSync(path, { force: true });
      dropDead(path, stateDir);
    }
  } finally {
    unlinkSync(own);
  }
  throw inUse(stateDir);
}

function dropDead(path: string, stateDir: string): void {
  const owner = readOptional(path);
  if (owner === undefined) return;
  if (isAlive(owner)) throw inUse(stateDir);
  const moved = `${path}.${randomUUID()}`;
  try {
    renameSync(path, moved);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return;
    throw cause;
  }
  // Somebody else may have taken the place in between.
  const isOther = readOptional(moved) !== owner;
  if (isOther) tryLink(moved, path);
  rmSync(moved, { force: true });
}

function isAlive(owner: string): boolean {
  const pid = Number(owner.split(" ")[0]);
  return Number.isInteger(pid) && pid > 0 && ownerOf(pid) === owner;
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    // Some file systems have no links.
    if (code === "EPERM" || code === "ENOTSUP" || code === "ENOSYS") return tryCopy(from, to);
    throw cause;
  }
}

function tryCopy(from: string, to: string): boolean {
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw cause;
  }
}

function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw cause;
  }
}

function inUse(stateDir: string): ServiceError {
  return new ServiceError("STATE_IN_USE", `Cannot use state directory "${stateDir}": another service uses it`, {
    hint: "End that service, or name another directory.",
  });
}
