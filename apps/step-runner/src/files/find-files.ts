import { readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { UsageError } from "@steps/console";
import { DEFAULT_FILES } from "@steps/model/reference";

/** The greatest number of files of one call; a tree with more is no project of steps. */
const MAX_FILES = 10_000;
const MAX_FOLDERS = 100_000;
const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules"]);

/** Tells whether a file holds jobs: `.gitlab-ci.yml`, `build.gitlab-ci.yml`. */
export function isCiFile(path: string): boolean {
  return /(?:^|\.)gitlab-ci\.ya?ml$/i.test(basename(path));
}

/** Tells whether a file is the manifest of a GitHub action. */
export function isActionFile(path: string): boolean {
  return /^action\.ya?ml$/.test(basename(path));
}

/** Tells whether a file is a workflow of GitHub, by where it lies. */
export function isWorkflowFile(path: string): boolean {
  return /(?:^|\/)\.(?:github|gitea|forgejo)\/workflows\/[^/]+\.ya?ml$/.test(resolve(path));
}

/** Tells whether a file holds a baseline message in protobuf's text form. */
export function isMessageFile(path: string): boolean {
  return /\.(?:txtpb|textproto)$/i.test(path);
}

/** Tells whether a file is read as a step when its folder is named. */
export function isStepFile(path: string): boolean {
  return DEFAULT_FILES.includes(basename(path));
}

const KNOWN = [isStepFile, isCiFile, isActionFile, isWorkflowFile];

/**
 * The step files, CI files, manifests and workflows in a folder and below it, in the order of their names. Links to folders are not
 * followed.
 *
 * @throws {UsageError} when there are none, or too many
 */
export function findFiles(folder: string): readonly string[] {
  const found = filesBelow(folder, (path) => KNOWN.some((is) => is(path)));
  if (found.length === 0)
    throw new UsageError(
      `"${folder}" holds no step file`,
      `Step files are ${DEFAULT_FILES.join(", ")}; name others one by one.`,
    );
  return found;
}

/**
 * The wanted files in a folder and below it, in the order of their names. Links to folders are not followed.
 *
 * @throws {UsageError} when there are too many
 */
export function filesBelow(folder: string, isWanted: (path: string) => boolean): readonly string[] {
  const found: string[] = [];
  const open = [folder];
  let folders = 0;
  for (let dir = open.pop(); dir !== undefined; dir = open.pop()) {
    folders += 1;
    const inner: string[] = [];
    for (const entry of readdirSync(dir, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(dir, entry.name);
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) inner.push(path);
      else if (!entry.isDirectory() && isWanted(path)) found.push(path);
    }
    open.push(...inner.toReversed());
    if (found.length > MAX_FILES || folders > MAX_FOLDERS) throw new UsageError(`"${folder}" holds too many files`);
  }
  return found;
}
