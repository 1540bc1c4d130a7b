import { join } from "node:path";
import type { FileContext, LoadFailure } from "@steps/model/include";
import type { IncludesOptions } from "./create-includes.ts";
import type { Fetches } from "./fetches.ts";

/** A project whose files are here. */
export interface Tree {
  readonly dir: string;
  /** The context of files in it, with the commit that a branch or tag meant. */
  readonly context: FileContext;
  /** The full commit; absent for a folder, which is as it is. */
  readonly commit: string | undefined;
  /** The name of one of its files in messages. */
  readonly nameOf: (path: string) => string;
}

/** The projects that files come from. */
export interface Trees {
  /** The project of a context, which is fetched if it is not here. */
  readonly find: (context: FileContext) => Promise<Tree | LoadFailure>;
  /** Fetches a project of a host at a branch, tag or commit. */
  readonly fetch: (place: ProjectPlace) => Promise<Tree | LoadFailure>;
  /** The tags of a project. */
  readonly tags: (place: Omit<ProjectPlace, "ref">) => Promise<readonly string[] | LoadFailure>;
}

/** The location of a project. */
interface ProjectPlace {
  /** Absent for the server of the pipeline's own project. */
  readonly host?: string | undefined;
  readonly project: string;
  /** A branch, tag or commit; absent for the newest commit of the default branch. */
  readonly ref?: string | undefined;
}

const NO_SERVER: LoadFailure = {
  problem: "Nothing says on which server the project is",
  hint: "Add the remote origin, name the project's URL with --project-url, or a folder with --include-map PROJECT=FOLDER.",
};

/** Keeps the projects that were found, by the context that their files carry. */
export function createTrees(options: IncludesOptions, fetches: Fetches): Trees {
  const known = new Map<string, Promise<Tree | LoadFailure>>();
  const own = ownTree(options);
  const fetch = (place: ProjectPlace): Promise<Tree | LoadFailure> => {
    const context = { project: nameOfProject(place, options), ref: place.ref };
    const key = keyOf(context);
    const found = known.get(key) ?? findTree(place, { options, fetches, own });
    known.set(key, found);
    return found.then((tree) => {
      // Files in it ask for others by the commit.
      if (!("problem" in tree)) known.set(keyOf(tree.context), found);
      return tree;
    });
  };
  return {
    find: (context) => {
      if (context.project === undefined && context.ref === undefined) return Promise.resolve(own);
      const project = context.project ?? options.server?.project;
      if (project === undefined) return Promise.resolve(NO_SERVER);
      return known.get(keyOf({ ...context, project })) ?? fetch({ project, ref: context.ref });
    },
    fetch,
    tags: async (place) => {
      const url = urlOf(place, options);
      return typeof url === "string" ? fetches.tags(url) : url;
    },
  };
}

function ownTree({ root, nameOf = (path) => path }: IncludesOptions): Tree {
  return { dir: root, context: {}, commit: undefined, nameOf: (path) => nameOf(join(root, path)) };
}

interface Finding {
  readonly options: IncludesOptions;
  readonly fetches: Fetches;
  readonly own: Tree;
}

async function findTree(place: ProjectPlace, { options, fetches, own }: Finding): Promise<Tree | LoadFailure> {
  const { ref, project } = place;
  const name = nameOfProject(place, options);
  const folder = folderOf(place, options);
  if (folder !== undefined) {
    const { nameOf = (path: string) => path } = options;
    const context = { project: name, ref: undefined };
    return { dir: folder, context, commit: undefined, nameOf: (path) => nameOf(join(folder, path)) };
  }
  if (isOwn(place, options) && ref !== undefined && ref === options.commit) return own;
  if (!isProjectPath(project)) return { problem: "It is not the path of a project", hint: "Write group/name." };
  const url = urlOf(place, options);
  if (typeof url !== "string") return url;
  const found = await fetches.repository(url, ref ?? "HEAD");
  if ("problem" in found) return found;
  const { dir, resource } = found;
  const commit = resource.digest["gitCommit"];
  const shown = commit?.slice(0, 12) ?? ref ?? "HEAD";
  return { dir, context: { project: name, ref: commit ?? ref }, commit, nameOf: (path) => `${name}@${shown}:${path}` };
}

/** Whether a place is the project that the pipeline is of. */
function isOwn({ host, project }: ProjectPlace, { server }: IncludesOptions): boolean {
  if (server?.project === undefined) return false;
  return (host === undefined || host === server.host) && project.toLowerCase() === server.project.toLowerCase();
}

// A project of another server is called by its host, too.
function nameOfProject({ host, project }: ProjectPlace, { server }: IncludesOptions): string {
  return host === undefined || host === server?.host ? project : `${host}/${project}`;
}

function folderOf({ host, project }: ProjectPlace, { folders = {}, server }: IncludesOptions): string | undefined {
  const isHere = host === undefined || host === server?.host;
  const names = [`${host ?? server?.host ?? ""}/${project}`, ...(isHere ? [project] : [])].map((name) =>
    name.toLowerCase(),
  );
  return Object.entries(folders).find(([name]) => names.includes(name.toLowerCase()))?.[1];
}

function urlOf({ host, project }: ProjectPlace, { server }: IncludesOptions): string | LoadFailure {
  if (host !== undefined && host !== server?.host) return `https://${host}/${project}`;
  return server === undefined ? NO_SERVER : `${server.gitBase}${project}`;
}

function isProjectPath(path: string): boolean {
  return path.split("/").length > 1 && path.split("/").every((part) => /^[\w][\w.+-]*$/.test(part));
}

function keyOf({ project, ref }: FileContext): string {
  return JSON.stringify([project?.toLowerCase(), ref]);
}
