import { readdirSync } from "node:fs";
import { join } from "node:path";
import { isCiFile, isWorkflowFile } from "./find-files.ts";

/** The folders of a project in which workflows lie. */
const WORKFLOW_FOLDERS: readonly string[] = [".github/workflows", ".gitea/workflows", ".forgejo/workflows"];
/** How many files a hint names. */
const MAX_NAMED = 3;

/** A hint that names files with jobs in a folder, or in its `.github/workflows`; the same without names if there are none. */
export function nameJobFile(folder: string): string {
  const found = [".", ...WORKFLOW_FOLDERS].flatMap((dir) => jobFilesIn(join(folder, dir)));
  return found.length === 0 ? "Name the file." : `Name the file: ${found.slice(0, MAX_NAMED).join(" or ")}.`;
}

function jobFilesIn(folder: string): readonly string[] {
  return namesIn(folder)
    .map((name) => join(folder, name))
    .filter((path) => isCiFile(path) || isWorkflowFile(path));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    // A hint is no reason for another complaint.
    return [];
  }
}
