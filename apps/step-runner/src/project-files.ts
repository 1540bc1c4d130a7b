import type { FileRequest, ListRequest, LoadedFile, LoadFailure, LoadPipelineOptions } from "@steps/gitlab-ci/load";
import { messageOf } from "@steps/model";
import { decodeSource } from "@steps/model/utf8";
import { MAX_TEXT_LENGTH } from "@steps/source/limits";
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";

/** Files that are looked at for one wildcard. */
const MAX_FILES = 100_000;

/**
 * Answers the includes of a `.gitlab-ci.yml` from a project's folder: local files and wildcards. Nothing outside of the folder is
 * read, also not by way of a link; what is elsewhere is refused.
 *
 * @param root - The project's folder.
 * @param variables - The variables that includes may use.
 */
export function projectFiles(root: string, variables: Readonly<Record<string, string>>): LoadPipelineOptions {
  return {
    loadFile: (request) => loadFile(root, request),
    listFiles: (request) => listFiles(root, request),
    variables,
  };
}

const ELSEWHERE: Readonly<Record<Exclude<FileRequest["kind"], "local">, string>> = {
  project: "Files of other projects are not supported yet",
  remote: "Remote files are not supported yet",
  template: "Templates of GitLab are not supported yet",
  component: "Components are not supported yet",
};

function loadFile(root: string, request: FileRequest): LoadedFile | LoadFailure {
  if (request.kind !== "local") {
    const hint = "Copy the file into the project, and include it as a local one.";
    return { problem: ELSEWHERE[request.kind], hint };
  }
  const path = join(root, request.path);
  try {
    const real = realpathSync(path);
    if (!isInside(realpathSync(root), real)) return { problem: "A link leads out of the project" };
    const found = statSync(real);
    if (!found.isFile()) return { problem: "It is not a file" };
    if (found.size > 4 * MAX_TEXT_LENGTH) return { problem: `The file has ${found.size} bytes` };
    return { source: decodeSource(shown(path), readFileSync(real)), context: request.context };
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    return { problem: isMissing ? "The file does not exist" : messageOf(error) };
  }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

// As the user would write it from the current directory.
function shown(path: string): string {
  const way = relative(process.cwd(), path);
  return way.startsWith("..") ? path : way;
}

function listFiles(root: string, { folder }: ListRequest): readonly string[] | LoadFailure {
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
