import { createHash } from "node:crypto";
import { CacheError } from "../error.ts";
import type { Limits } from "../limits.ts";
import type { TreeNode, TreePlan } from "../tree/tree-plan.ts";
import { createTreePlan, unsafe } from "../tree/tree-plan.ts";
import type { WrittenTree } from "../tree/tree-writer.ts";
import { createTreeWriter } from "../tree/tree-writer.ts";

export type GitObjectType = "blob" | "tree" | "commit" | "tag";

/** One object of a repository. Its content is read before the next object is asked for. */
export interface GitObject {
  readonly id: string;
  readonly type: GitObjectType;
  readonly size: number;
  readonly content: AsyncIterable<Uint8Array>;
}

/** Reads objects that are here. */
export interface ObjectSource extends AsyncDisposable {
  /** Objects in the order asked for. @throws {CacheError} DIGEST_MISMATCH for one that is missing or damaged */
  read(ids: readonly string[]): AsyncIterable<GitObject>;
}

export interface ExtractOptions {
  readonly commit: string;
  readonly limits: Limits;
  readonly signal?: AbortSignal | undefined;
}

/** A commit's tree as it was written, with the ids that it was checked against. */
export interface ExtractedCommit extends WrittenTree {
  /** The commit itself, if the id asked for was of a tag. */
  readonly commit: string;
  readonly nativeTree: string;
}

interface TreeLine {
  readonly mode: string;
  readonly name: Uint8Array;
  readonly id: string;
}

const MAX_META_BYTES = 16 * 1024 * 1024;
const MAX_TAG_STEPS = 10;

/**
 * Writes a commit's tree to `dir`, without a checkout: no hooks, no filters, no attributes. Every byte is hashed on its
 * way, up to the id of the commit, so neither server nor store has to be believed.
 *
 * @throws {CacheError} UNSAFE_ENTRY, ARCHIVE_TOO_LARGE, DIGEST_MISMATCH, REFERENCE_NOT_FOUND for what is no commit
 */
export async function extractCommit(
  source: ObjectSource,
  dir: string,
  options: ExtractOptions,
): Promise<ExtractedCommit> {
  const { limits, signal } = options;
  const { commit, tree } = await readCommit(source, options.commit);
  const algorithm = algorithmOf(commit);
  const plan = createTreePlan(limits);
  const files: { node: TreeNode; id: string }[] = [];
  const isExact = await planTree({ source, plan, files, limits }, tree);
  const writer = await createTreeWriter(dir, plan, { limits, signal, nativeAlgorithm: algorithm });
  let index = 0;
  for await (const object of source.read(files.map(({ id }) => id))) {
    const { node } = files[index] as { node: TreeNode };
    index += 1;
    if (object.type !== "blob") throw mismatch(`"${object.id}" is a ${object.type} and not a file`);
    if (node.type === "link") await writer.setLink(node, object.content);
    else await writer.writeFile(node, object.size, object.content);
  }
  const written = await writer.finish();
  if (isExact ? written.nativeTree !== tree : files.some(({ node, id }) => node.nativeDigest !== id)) {
    throw mismatch(`the tree of commit "${commit}" has other content than its id "${tree}" says`);
  }
  return { ...written, commit, nativeTree: tree };
}

/** The hash that ids of this length are made with. */
export function algorithmOf(id: string): "sha1" | "sha256" {
  return id.length === 64 ? "sha256" : "sha1";
}

/** Whether a version is a full commit id. */
export function isFullId(version: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(version);
}

async function readCommit(source: ObjectSource, id: string): Promise<{ commit: string; tree: string }> {
  let current = id;
  for (let steps = 0; steps < MAX_TAG_STEPS; steps += 1) {
    const { type, content } = await readWhole(source, current);
    const header = content.subarray(0, 256).toString("latin1");
    const tree = type === "commit" ? /^tree ([0-9a-f]{40,64})\n/.exec(header)?.[1] : undefined;
    if (tree !== undefined) return { commit: current, tree };
    const next = type === "tag" ? /^object ([0-9a-f]{40,64})\n/.exec(header)?.[1] : undefined;
    if (next === undefined) {
      throw new CacheError("REFERENCE_NOT_FOUND", `Cannot use "${id}": it names a ${type} and not a commit`);
    }
    current = next;
  }
  throw new CacheError("REFERENCE_NOT_FOUND", `Cannot use "${id}": it is a tag of too many tags`);
}

/** Plans all entries, level by level. Gives whether the plan says exactly what the trees said. */
async function planTree(
  walk: { source: ObjectSource; plan: TreePlan; files: { node: TreeNode; id: string }[]; limits: Limits },
  root: string,
): Promise<boolean> {
  const { source, plan, files } = walk;
  let level: { prefix: string; id: string }[] = [{ prefix: "", id: root }];
  let isExact = true;
  while (level.length > 0) {
    const trees = await readTrees(source, [...new Set(level.map(({ id }) => id))]);
    const next: typeof level = [];
    for (const { prefix, id } of level) {
      for (const line of trees.get(id) ?? []) {
        const { type, isExecutable, isUsual } = entryType(line, prefix);
        isExact &&= isUsual;
        const path = Buffer.concat([Buffer.from(prefix), line.name]);
        const node = plan.add({ path, type, isExecutable });
        if (type === "dir") next.push({ prefix: `${node.path}/`, id: line.id });
        else files.push({ node, id: line.id });
      }
    }
    level = next;
  }
  return isExact;
}

async function readTrees(source: ObjectSource, ids: readonly string[]): Promise<Map<string, TreeLine[]>> {
  const trees = new Map<string, TreeLine[]>();
  for await (const object of source.read(ids)) {
    const { type, content } = await check(object);
    if (type !== "tree") throw mismatch(`"${object.id}" is a ${type} and not a folder`);
    trees.set(object.id, parseTree(content, object.id));
  }
  return trees;
}

function parseTree(content: Buffer, id: string): TreeLine[] {
  const lines: TreeLine[] = [];
  const idBytes = id.length / 2;
  let offset = 0;
  while (offset < content.byteLength) {
    const space = content.indexOf(0x20, offset);
    const end = content.indexOf(0, space);
    if (space === -1 || end === -1 || end + 1 + idBytes > content.byteLength)
      throw mismatch(`tree "${id}" is malformed`);
    lines.push({
      mode: content.toString("latin1", offset, space),
      name: content.subarray(space + 1, end),
      id: content.toString("hex", end + 1, end + 1 + idBytes),
    });
    offset = end + 1 + idBytes;
  }
  return lines;
}

function entryType(
  line: TreeLine,
  prefix: string,
): { type: TreeNode["type"]; isExecutable: boolean; isUsual: boolean } {
  // Git never writes such a name; as part of a path it would be a folder.
  if (line.name.includes(0x2f))
    throw unsafe(`${prefix}${Buffer.from(line.name).toString()}`, "has a name with a slash");
  const usual = { isExecutable: false, isUsual: true };
  switch (line.mode) {
    case "40000":
      return { ...usual, type: "dir" };
    case "100644":
      return { ...usual, type: "file" };
    case "100755":
      return { ...usual, type: "file", isExecutable: true };
    case "100664":
      // Written by git of long ago; it is a plain file.
      return { type: "file", isExecutable: false, isUsual: false };
    case "120000":
      return { ...usual, type: "link" };
    case "160000":
      throw unsafe(`${prefix}${Buffer.from(line.name).toString()}`, "is a submodule, which steps cannot have");
    default:
      throw unsafe(`${prefix}${Buffer.from(line.name).toString()}`, `has the mode ${line.mode.slice(0, 12)}`);
  }
}

async function readWhole(source: ObjectSource, id: string): Promise<{ type: GitObjectType; content: Buffer }> {
  for await (const object of source.read([id])) return await check(object);
  throw mismatch(`object "${id}" is missing`);
}

/** Reads a commit, tag or tree whole and checks that it is what its id says. */
async function check(object: GitObject): Promise<{ type: GitObjectType; content: Buffer }> {
  if (object.size > MAX_META_BYTES) {
    throw new CacheError("ARCHIVE_TOO_LARGE", `Cannot unpack component: ${object.type} "${object.id}" is too large`);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of object.content) chunks.push(chunk);
  const content = Buffer.concat(chunks);
  const hash = createHash(algorithmOf(object.id)).update(`${object.type} ${content.byteLength}\0`).update(content);
  if (hash.digest("hex") !== object.id)
    throw mismatch(`${object.type} "${object.id}" has other content than its id says`);
  return { type: object.type, content };
}

/** The error of content that is not what it should be. */
export function mismatch(problem: string): CacheError {
  return new CacheError("DIGEST_MISMATCH", `Cannot unpack component: ${problem}`);
}
