import { messageOf } from "@steps/model";
import { decodeSource } from "@steps/model/utf8";
import type { Source } from "@steps/model/diagnostic";
import { isInside, sha256 } from "@steps/platform";
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import type { LoadFailure } from "@steps/model/include";

/** Files that are looked at for one wildcard or one condition. */
const MAX_FILES = 100_000;

/** Bytes of one file: four for each character that GitLab takes. */
const MAX_BYTES = 4 * 1024 * 1024;

/** A file that was read, with the SHA-256 of its bytes as 64 digits. */
export interface ReadFile {
  readonly source: Source;
  readonly sha256: string;
}

/**
 * Reads a file below a folder. Nothing outside of the folder is read, also not by way of a link.
 *
 * @param name - The name of the file in messages.
 */
export function readFileIn(root: string, path: string, name: string): ReadFile | LoadFailure {
  try {
    const real = realpathSync(join(root, path));
    if (!isInside(root, real)) return { problem: "A link leads out of the project" };
    const found = statSync(real);
    if (!found.isFile()) return { problem: "It is not a file" };
    if (found.size > MAX_BYTES) return { problem: `The file has ${found.size} bytes` };
    const bytes = readFileSync(real);
    return { source: decodeSource(name, bytes), sha256: sha256(bytes) };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const isMissing = code === "ENOENT" || code === "ENOTDIR";
    return { problem: isMissing ? "The file does not exist" : messageOf(error) };
  }
}

/** The paths of the files below a folder of a root, from that root; links and `.git` are left out. */
export function listFilesIn(root: string, folder: string): readonly string[] | LoadFailure {
  const paths: string[] = [];
  const waiting = isReached(root, folder) ? [folder] : [];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const entry of entriesOf(join(root, next))) {
      const path = next === "" ? entry.name : `${next}/${entry.name}`;
      if (entry.isFile()) paths.push(path);
      else if (entry.isDirectory() && entry.name !== ".git") waiting.push(path);
    }
    if (paths.length > MAX_FILES) return { problem: `The folder has more than ${MAX_FILES} files` };
  }
  return paths;
}

// A link to a folder is not followed: git has it as a link.
function isReached(root: string, folder: string): boolean {
  try {
    return realpathSync(join(root, folder)) === join(realpathSync(root), folder);
  } catch {
    return false;
  }
}

function entriesOf(folder: string): ReturnType<typeof readEntries> {
  try {
    return readEntries(folder);
  } catch {
    // A folder that is not there, or may not be read, has no files for a wildcard.
    return [];
  }
}

function readEntries(folder: string) {
  return readdirSync(folder, { withFileTypes: true });
}
