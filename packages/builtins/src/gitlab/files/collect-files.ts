import { lstatSync, readdirSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { isAbsolute, join, posix, relative, sep } from "node:path";
import { messageOf } from "@steps/model";
import { createTreePlan, quote, type TreeNode, type TreePlan, type ZipSource } from "@steps/transfer/archive";
import { type Glob, literalStart, matchesGlob, readGlob } from "./glob.ts";
import { JOB_LIMITS, JOB_RULES } from "./job-files.ts";
import { countFiles } from "../gitlab-step.ts";

/** The files of a project that are asked for. */
export interface FileRequest {
  /** The root of the project: absolute. */
  readonly root: string;
  /** Patterns, relative to the root or absolute below it. Folders bring everything in them. */
  readonly paths: readonly string[];
  /** Patterns for relative paths that are left out. */
  readonly exclude: readonly string[];
  /** Paths that git does not track, relative to the root. */
  readonly untracked?: readonly string[];
  /** Folders that are never brought, though they may lie in the project: absolute. */
  readonly stores: readonly string[];
  readonly log: (line: string) => void;
  readonly warn: (line: string) => void;
}

/**
 * Finds files as GitLab's runner does: patterns do not follow links, what they match is walked through with all that is
 * hidden, links stay links. Says what each pattern brought. Sorted by name.
 *
 * @throws {BuiltinError} BUILTIN_FAILED for a pattern that cannot be read
 */
export function collectFiles(request: FileRequest): ZipSource[] {
  const collector = new Collector(request);
  for (const path of request.paths) collector.addPattern(path);
  if (request.untracked !== undefined) collector.addUntracked(request.untracked);
  return collector.finish();
}

class Collector {
  readonly #request: FileRequest;
  readonly #root: string;
  readonly #exclude: readonly { readonly pattern: string; readonly glob: Glob }[];
  readonly #excluded = new Map<string, number>();
  readonly #found = new Map<string, Stats>();
  readonly #stores: ReadonlySet<string>;
  #hasMetGit = false;

  constructor(request: FileRequest) {
    this.#request = request;
    this.#root = realpathSync(request.root);
    this.#stores = new Set(request.stores.flatMap((store) => realOf(store) ?? []));
    this.#exclude = request.exclude.flatMap((text) => {
      const pattern = this.#relativePattern(text);
      return pattern === undefined ? [] : [{ pattern: text, glob: readGlob(pattern) }];
    });
  }

  addPattern(text: string): void {
    const pattern = this.#relativePattern(text);
    if (pattern === undefined) {
      this.#request.warn(`${quote(text)} is outside of the project, ${this.#request.root}: it is left out`);
      return;
    }
    const found = pattern === "" ? this.#addAll("") : this.#match(pattern);
    if (found > 0)
      this.#request.log(`${text}: found ${found} matching ${found === 1 ? "file or folder" : "files and folders"}`);
    else this.#request.warn(`${text}: no matching files; paths are relative to ${this.#request.root}`);
  }

  addUntracked(paths: readonly string[]): void {
    let found = 0;
    for (const path of paths) {
      const stats = this.#look(path);
      if (stats !== undefined && this.#add(path, stats)) found += 1;
    }
    this.#request.log(`untracked: found ${found} files`);
  }

  finish(): ZipSource[] {
    const { log, warn } = this.#request;
    for (const [pattern, count] of this.#excluded) log(`${pattern}: excluded ${countFiles(count)}`);
    if (this.#hasMetGit) log("The repository of the project, .git, is left out");
    const plan = createTreePlan(JOB_LIMITS, JOB_RULES);
    const names = [...this.#found.keys()].toSorted((a, b) => (a < b ? -1 : 1));
    const planned = names.flatMap((name) => this.#plan(plan, name));
    const isKept = ({ node }: { node: TreeNode }): boolean => {
      if (node.type !== "link") return true;
      const problem = problemOf(() => plan.checkLink(node));
      if (problem !== undefined) warn(`${problem}: it is left out`);
      return problem === undefined;
    };
    return planned.filter(isKept).map(({ source }) => source);
  }

  #plan(plan: TreePlan, name: string): { node: TreeNode; source: ZipSource }[] {
    const stats = this.#found.get(name) as Stats;
    const path = join(this.#root, name);
    const type = stats.isDirectory() ? "dir" : stats.isSymbolicLink() ? "link" : "file";
    let node: TreeNode | undefined;
    const problem = problemOf(() => {
      node = plan.add({ path: name, type });
      if (type === "link") node.target = readlinkSync(path);
    });
    if (node === undefined || problem !== undefined) {
      this.#request.warn(`${problem ?? quote(name)}: it is left out`);
      return [];
    }
    const { mode, size, mtime: modifiedAt } = stats;
    return [{ node, source: { name, path, type, mode, size, modifiedAt } }];
  }

  /** The pattern relative to the root; empty for the root itself, `undefined` for what is outside. */
  #relativePattern(text: string): string | undefined {
    let pattern = text.trim();
    if (isAbsolute(pattern)) {
      const base = [this.#request.root, this.#root].find((root) => `${pattern}/`.startsWith(`${root}/`));
      if (base === undefined) return undefined;
      pattern = pattern.slice(base.length + 1);
    }
    const clean = posix.normalize(pattern).replace(/^\/+|\/+$/g, "");
    if (clean === ".." || clean.startsWith("../")) return undefined;
    return clean === "." ? "" : clean;
  }

  #match(pattern: string): number {
    const glob = readGlob(pattern);
    const start = literalStart(pattern);
    if (start.length === pattern.split("/").length) return this.#isReachable(pattern) ? this.#addAll(pattern) : 0;
    const base = start.join("/");
    if (base !== "" && !this.#isReachable(`${base}/*`)) return 0;
    let found = 0;
    const walk = (folder: string, state: ReturnType<Glob["next"]>): void => {
      for (const name of this.#namesIn(folder)) {
        const next = glob.next(state, name);
        if (next.size === 0) continue;
        const path = folder === "" ? name : `${folder}/${name}`;
        if (glob.isMatch(next)) found += this.#addAll(path);
        else if (this.#look(path)?.isDirectory() === true) walk(path, next);
      }
    };
    const state = start.reduce(glob.next, glob.start);
    if (glob.isMatch(state)) found += this.#addAll(base);
    else walk(base, state);
    return found;
  }

  /** Whether the folders above a path are in the project, also where they are links. */
  #isReachable(path: string): boolean {
    const folder = realOf(join(this.#root, posix.dirname(path)));
    if (folder === undefined) return false;
    const inside = relative(this.#root, folder);
    if (inside !== ".." && !inside.startsWith(`..${sep}`) && !isAbsolute(inside)) return true;
    this.#request.warn(`${quote(path)} leads out of the project by a link`);
    return false;
  }

  /** Adds a path with all that is in it. Gives how many files and folders were found. */
  #addAll(path: string): number {
    const stats = path === "" ? lstatSync(this.#root) : this.#look(path);
    if (stats === undefined || this.#isStore(path)) return 0;
    let found = path !== "" && this.#add(path, stats) ? 1 : 0;
    if (!stats.isDirectory()) return found;
    for (const name of this.#namesIn(path)) found += this.#addAll(path === "" ? name : `${path}/${name}`);
    return found;
  }

  #add(path: string, stats: Stats): boolean {
    if (this.#isGit(path)) return false;
    const exclude = this.#exclude.find(({ glob }) => matchesGlob(glob, path));
    if (exclude !== undefined) {
      this.#excluded.set(exclude.pattern, (this.#excluded.get(exclude.pattern) ?? 0) + 1);
      return false;
    }
    if (!stats.isFile() && !stats.isDirectory() && !stats.isSymbolicLink()) {
      this.#request.warn(`${quote(path)} is a device, pipe or socket: it is left out`);
      return false;
    }
    this.#found.set(path, stats);
    return true;
  }

  #isGit(path: string): boolean {
    const isGit = path === ".git" || path.startsWith(".git/");
    this.#hasMetGit ||= isGit;
    return isGit;
  }

  #isStore(path: string): boolean {
    return this.#stores.has(join(this.#root, path));
  }

  #namesIn(folder: string): string[] {
    if (this.#isGit(folder) || this.#isStore(folder)) return [];
    try {
      return readdirSync(join(this.#root, folder));
    } catch (error) {
      if (!isMissing(error)) this.#request.warn(`${quote(folder)} cannot be read: ${messageOf(error)}`);
      return [];
    }
  }

  #look(path: string): Stats | undefined {
    try {
      return lstatSync(join(this.#root, path));
    } catch (error) {
      if (!isMissing(error)) this.#request.warn(`${quote(path)} cannot be read: ${messageOf(error)}`);
      return undefined;
    }
  }
}

function problemOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return messageOf(error).replace(/^Cannot unpack archive: the entry /, "");
  }
}

function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
