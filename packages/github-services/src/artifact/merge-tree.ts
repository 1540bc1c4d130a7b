import { mkdir, readdir, rename, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { systemCode } from "../error.ts";
import { HttpError } from "../http/http-error.ts";
import { isPlainFolder } from "../store/files.ts";

/** Moves a tree of folders and files into a folder: at once where that is empty, otherwise file by file, over the old ones. */
export async function mergeTree(source: string, target: string): Promise<void> {
  try {
    await rename(source, target);
    return;
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST", "EPERM"].includes(systemCode(error) ?? "")) throw error;
  }
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const [from, to] = [join(source, entry.name), join(target, entry.name)];
    if (entry.isDirectory()) {
      await makeFolder(to);
      await mergeTree(from, to);
    } else {
      await rename(from, to).catch((error: unknown) => {
        throw clash(error);
      });
    }
  }
  await rmdir(source);
}

/** Makes a folder, but never through a link: a step of the job may have put one there. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    if (systemCode(error) !== "EEXIST" || !(await isPlainFolder(path))) throw clash(error);
  }
}

function clash(error: unknown): unknown {
  const isClash = ["ENOTDIR", "EEXIST", "EISDIR", "ENOTEMPTY"].includes(systemCode(error) ?? "");
  return isClash
    ? new HttpError(409, "failed_precondition", "The artifact has a file and a folder of the same name")
    : error;
}
