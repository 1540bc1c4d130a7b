import { closeSync, fstatSync, lstatSync, openSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { randomHex } from "@steps/platform/runtime";

/** An empty file that was made for one step. */
export interface OwnFile {
  /** Absolute. */
  readonly path: string;
  readonly kind: "output" | "export";
  readonly ino: bigint;
  /** The time of its last change when it was made. No process can set it back. */
  readonly ctimeNs: bigint;
  /** Its kind and who may read and write it. */
  readonly mode: bigint;
  readonly uid: bigint;
  readonly gid: bigint;
}

/**
 * The files of steps that were handed back as they were given out: the next step gets them, since to make a file and to remove it
 * takes longer than all else that is done for a short script.
 */
export class SpareFiles {
  readonly #dir: string;
  readonly #spare: Readonly<Record<OwnFile["kind"], OwnFile[]>> = { output: [], export: [] };

  /** @param dir an existing private directory */
  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Gives an empty file that no other step has. */
  take(kind: OwnFile["kind"]): OwnFile {
    return this.#spare[kind].pop() ?? createFile(this.#dir, kind);
  }

  /** Takes a file back from a step that has ended. One that was touched in any way is removed. */
  giveBack(file: OwnFile): void {
    if (isUntouched(file)) this.#spare[file.kind].push(file);
    else removeFile(file.path);
  }

  /** Removes what nobody has. */
  remove(): void {
    for (const files of Object.values(this.#spare)) for (const { path } of files.splice(0)) removeFile(path);
  }
}

function createFile(dir: string, kind: OwnFile["kind"]): OwnFile {
  const path = join(dir, `${kind}-${randomHex(8)}`);
  const fd = openSync(path, "wx", 0o600);
  try {
    const { ino, ctimeNs, mode, uid, gid } = fstatSync(fd, { bigint: true });
    return { path, kind, ino, ctimeNs, mode, uid, gid };
  } finally {
    closeSync(fd);
  }
}

// The time alone does not tell: a file system may give the same to all changes of ten milliseconds.
function isUntouched({ path, ino, ctimeNs, mode, uid, gid }: OwnFile): boolean {
  const now = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (now === undefined || now.ino !== ino || now.ctimeNs !== ctimeNs) return false;
  return now.mode === mode && now.uid === uid && now.gid === gid && now.nlink === 1n && now.size === 0n;
}

/** Removes a file of a step, if it is there. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The step may have removed it, or made a directory of it; the whole directory goes when the job ends.
  }
}
