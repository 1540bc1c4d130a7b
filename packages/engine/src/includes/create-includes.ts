import type { ComponentCache } from "@steps/cache";
import type { FileContext, FileRequest, ListRequest, LoadedFile, LoadFailure } from "@steps/model/include";
import { checkOptionNames, type OptionNames, type IncludedFile } from "@steps/model";
import type { Resource } from "@steps/model/event";
import { createFetches, type Fetches } from "./fetches.ts";
import { listFilesIn, readFileIn } from "./folder-files.ts";
import { loadComponent } from "./load-component.ts";
import { loadRemote, loadTemplate } from "./load-remote.ts";
import type { IncludeServer } from "./include-server.ts";
import { createTrees, type Trees } from "./project-trees.ts";

/** The options of `createIncludes()`. */
export interface IncludesOptions {
  /** The folder of the project that the pipeline is of: its own local files are read here, as they are. */
  readonly root: string;
  /** The cache that files from elsewhere come through; it knows what is locked, mirrored and offline. */
  readonly cache: ComponentCache;
  /** The server of the project; absent when nothing says where other projects are. */
  readonly server?: IncludeServer | undefined;
  /** The commit of the pipeline: components of the same project at this commit are read in the folder. Absent without one. */
  readonly commit?: string | undefined;
  /**
   * Folders that stand for projects, by `group/name` or `host/group/name`; the word `template` for a folder of GitLab's templates.
   */
  readonly folders?: Readonly<Record<string, string>> | undefined;
  /** Whether a remote file without `integrity` may come over plain HTTP. Default: no. */
  readonly allowsHttp?: boolean | undefined;
  /** The time for fetching all that is included, in milliseconds. Default: 5 minutes. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The name of a file of the project in messages, by its absolute path. Default: the path. */
  readonly nameOf?: ((path: string) => string) | undefined;
}

/** Answers the includes of a pipeline, and remembers what it gave. */
export interface Includes {
  /** `loadFile` of `loadPipeline()`. It throws for a cancel, and for a cache that cannot be used. */
  readonly loadFile: (request: FileRequest) => Promise<LoadedFile | LoadFailure>;
  /** `listFiles` of `loadPipeline()`. */
  readonly listFiles: (request: ListRequest) => Promise<readonly string[] | LoadFailure>;
  /** The files of a project at a branch, tag or commit, for `rules:exists`; by default the newest of its default branch. */
  readonly filesOf: (context: FileContext) => Promise<readonly string[] | LoadFailure>;
  /** The files that were given, sorted by name, since they come in any order. */
  readonly files: () => readonly IncludedFile[];
  /** The components that they came from, for a lock. */
  readonly resources: () => readonly Resource[];
}

/** The state that the loaders of all kinds of includes share. */
export interface IncludesState {
  readonly options: IncludesOptions;
  readonly fetches: Fetches;
  readonly trees: Trees;
  /** Takes note of a file that is given. */
  readonly record: (file: IncludedFile) => void;
}

const OPTION_NAMES: OptionNames<IncludesOptions> = {
  root: true,
  cache: true,
  server: true,
  commit: true,
  folders: true,
  allowsHttp: true,
  timeoutMs: true,
  signal: true,
  nameOf: true,
};

/**
 * Loads what a `.gitlab-ci.yml` includes: files of the project from its folder, all others through the cache
 * ([include](https://docs.gitlab.com/ci/yaml/#include)). Nothing is asked of a server before it is needed.
 */
export function createIncludes(options: IncludesOptions): Includes {
  checkOptionNames("createIncludes()", options, OPTION_NAMES);
  const fetches = createFetches(options);
  const trees = createTrees(options, fetches);
  const files = new Map<string, IncludedFile>();
  const state: IncludesState = { options, fetches, trees, record: (file) => files.set(file.name, file) };
  return {
    loadFile: (request) => load(request, state),
    listFiles: async ({ folder, context }) => {
      const tree = await trees.find(context);
      return "problem" in tree ? tree : listFilesIn(tree.dir, folder);
    },
    filesOf: async (context) => {
      const tree = await trees.find(context);
      return "problem" in tree ? tree : listFilesIn(tree.dir, "");
    },
    files: () => [...files.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    resources: () => fetches.resources(),
  };
}

async function load(request: FileRequest, state: IncludesState): Promise<LoadedFile | LoadFailure> {
  switch (request.kind) {
    case "remote":
      return loadRemote(request, state);
    case "template":
      return loadTemplate(request.name, state);
    case "component":
      return loadComponent(request.address, state);
    case "project":
      return loadFromProject({ project: request.project, ref: request.ref }, request.path, state);
    case "artifact":
      return { problem: "Nobody knows the artifacts of a job here" };
    case "local":
      return loadFromProject(request.context, request.path, state);
  }
}

async function loadFromProject(
  context: FileContext,
  path: string,
  { trees, record }: IncludesState,
): Promise<LoadedFile | LoadFailure> {
  const tree = await trees.find(context);
  if ("problem" in tree) return tree;
  const read = readFileIn(tree.dir, path, tree.nameOf(path));
  if ("problem" in read) {
    const isElsewhere = tree.commit !== undefined && read.problem === "The file does not exist";
    return isElsewhere ? { problem: `There is no such file at ${tree.commit?.slice(0, 12)}` } : read;
  }
  const { source, sha256 } = read;
  record({ name: source.name, digest: tree.commit === undefined ? { sha256 } : { gitCommit: tree.commit } });
  return { source, context: tree.context };
}
