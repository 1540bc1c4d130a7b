import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import type { Dirent, Stats } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { ExecuteError } from "@steps/executor/kit";
import { compileHashPatterns } from "@steps/github-language/commands";
import { messageOf } from "@steps/model";

/** The folder whose files are hashed, and the limit of that. */
export interface HashFilesOptions {
  /** Absolute: patterns are relative to it, and what is not below it is left out. */
  readonly workspace: string;
  /** Looked at before the work; nothing else of this thread runs during it. */
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

type Patterns = ReturnType<typeof compileHashPatterns>;

interface Walk {
  readonly patterns: Patterns;
  /** The workspace as it is named, and as it is without links. */
  readonly roots: readonly string[];
  readonly isFollowing: boolean;
  readonly budget: Budget;
}

interface Item {
  readonly path: string;
  readonly level: number;
  readonly kind: "file" | "directory" | "link";
}

const TIMEOUT_MS = 120_000;
const CHUNK_BYTES = 256 * 1024;
const ENTRIES_PER_LOOK = 100;

/**
 * `hashFiles()` of GitHub's expressions: the SHA-256, in hex, over the SHA-256 of each file that the patterns match, in the order of
 * a walk by names; empty if there is none. Directories that are links are entered after `--follow-symbolic-links` only, a file that
 * is a link stands for its target. What is no file, as a pipe, is left out.
 *
 * @throws {ExecuteError} EXPRESSION_FAILED for a file that cannot be read, a broken link, an unknown option, too much time
 */
export function hashFiles(patterns: readonly string[], options: HashFilesOptions): string {
  const { workspace, timeoutMs = TIMEOUT_MS } = options;
  options.signal?.throwIfAborted();
  const compiled = compile(patterns, workspace);
  const budget = new Budget(timeoutMs);
  const walk = { patterns: compiled, roots: rootsOf(workspace), isFollowing: compiled.followsSymbolicLinks, budget };
  const hash = createHash("sha256");
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let count = 0;
  for (const file of filesOf(walk)) {
    const digest = digestOf(file, { chunk, budget });
    if (digest === undefined) continue;
    hash.update(digest);
    count += 1;
  }
  return count === 0 ? "" : hash.digest("hex");
}

function compile(patterns: readonly string[], root: string): Patterns {
  try {
    return compileHashPatterns(patterns, { root, home: homedir() });
  } catch (error) {
    throw failed(messageOf(error), { cause: error });
  }
}

/** How much time is left. */
class Budget {
  readonly #timeoutMs: number;
  readonly #endMs: number;
  #entries = 0;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
    this.#endMs = performance.now() + timeoutMs;
  }

  countEntry(): void {
    this.#entries += 1;
    if (this.#entries % ENTRIES_PER_LOOK === 0) this.check();
  }

  check(): void {
    if (performance.now() <= this.#endMs) return;
    throw failed(`it took more than ${this.#timeoutMs} ms and had seen ${this.#entries} files and folders`, {
      hint: "Name the folders that matter instead of the whole workspace.",
    });
  }
}

function failed(problem: string, options: { cause?: unknown; hint?: string } = {}): ExecuteError {
  return new ExecuteError("EXPRESSION_FAILED", `Cannot evaluate hashFiles(): ${problem}`, options);
}

function rootsOf(workspace: string): string[] {
  try {
    return [...new Set([workspace, realpathSync(workspace)])];
  } catch {
    // It is not there: then nothing in it is, either.
    return [workspace];
  }
}

/** Matching files in the order of the walk: each folder's entries by the bytes of their names, the depth first. */
function* filesOf(walk: Walk): Generator<string> {
  const chain: string[] = [];
  const stack = walk.patterns.searchPaths.toReversed().flatMap((path) => startAt(path, walk.roots));
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    walk.budget.countEntry();
    const kind = kindOf(item, walk);
    if (kind === undefined) continue;
    const isDirectory = kind === "directory";
    const match = walk.patterns.match(item.path, isDirectory);
    if (match === "no") continue;
    if (!isDirectory) {
      if (match === "yes" && isBelow(item.path, walk.roots)) yield item.path;
      continue;
    }
    if (!isOnTheWay(item.path, walk.roots)) continue;
    if (walk.isFollowing && !enter(chain, item)) continue;
    stack.push(...childrenOf(item));
  }
}

function startAt(path: string, roots: readonly string[]): Item[] {
  // A workspace that is a link is entered in any case.
  const stat = roots.includes(path) ? statOf(path) : statOf(path, lstatSync);
  return stat === undefined ? [] : [{ path, level: 1, kind: kindOfEntry(stat) }];
}

function kindOfEntry(entry: Dirent | Stats): Item["kind"] {
  return entry.isSymbolicLink() ? "link" : entry.isDirectory() ? "directory" : "file";
}

/** The kind that an entry is taken for; `undefined`: a link that is followed and leads nowhere. */
function kindOf({ path, kind }: Item, { isFollowing }: Walk): "file" | "directory" | undefined {
  if (kind !== "link") return kind;
  if (!isFollowing) return "file";
  const target = statOf(path);
  return target === undefined ? undefined : target.isDirectory() ? "directory" : "file";
}

function statOf(path: string, stat: (path: string) => Stats = statSync): Stats | undefined {
  try {
    return stat(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") return undefined;
    throw failed(messageOf(error), { cause: error });
  }
}

/** Tells whether a folder, with its links resolved, is none of those that it is in. */
function enter(chain: string[], { path, level }: Item): boolean {
  let real: string;
  try {
    real = realpathSync(path);
  } catch (error) {
    throw failed(messageOf(error), { cause: error });
  }
  chain.length = Math.min(chain.length, level - 1);
  if (chain.includes(real)) return false;
  chain.push(real);
  return true;
}

function childrenOf({ path, level }: Item): Item[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(path, { withFileTypes: true });
  } catch (error) {
    throw failed(messageOf(error), { cause: error });
  }
  // `<` puts characters beyond the first plane before some of those in it; the order is that of the bytes.
  const isPlain = !entries.some(({ name }) => /[\ud800-\udfff]/.test(name));
  const compare = isPlain ? (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0) : compareBytes;
  // The last on the stack is the first to come off it.
  const sorted = entries.toSorted((a, b) => compare(b.name, a.name));
  return sorted.map((entry) => ({ path: join(path, entry.name), level: level + 1, kind: kindOfEntry(entry) }));
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function isBelow(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => path.startsWith(root === "/" ? root : `${root}/`));
}

function isOnTheWay(path: string, roots: readonly string[]): boolean {
  const start = path === "/" ? path : `${path}/`;
  return isBelow(path, roots) || roots.some((root) => root === path || root.startsWith(start));
}

function digestOf(path: string, { chunk, budget }: { chunk: Buffer; budget: Budget }): Buffer | undefined {
  budget.check();
  let fd: number | undefined;
  try {
    const stat = statSync(path);
    if (!stat.isFile()) return undefined;
    // Should a pipe have taken its place meanwhile, nobody may ever write to it.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!fstatSync(fd).isFile()) return undefined;
    const hash = createHash("sha256");
    for (let count = readSync(fd, chunk); count > 0; count = readSync(fd, chunk)) {
      hash.update(count === chunk.byteLength ? chunk : chunk.subarray(0, count));
      budget.check();
    }
    return hash.digest();
  } catch (error) {
    if (error instanceof ExecuteError) throw error;
    throw failed(messageOf(error), { cause: error });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
