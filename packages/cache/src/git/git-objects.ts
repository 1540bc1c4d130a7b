import type { Limits } from "@steps/transfer";
import { CacheError } from "../cache-error.ts";
import { createTreePlan, type TreeNode, type TreePlan, unsafe, type UnusualEntry } from "@steps/transfer/archive";
import type { WrittenTree } from "../tree/tree-writer.ts";
import { createTreeWriter } from "../tree/tree-writer.ts";
import type { CommitProof } from "../store/commit-proof.ts";
import { algorithmOf, isObject, MAX_TAG_STEPS, targetOf } from "./commit-proof.ts";

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
  /**
   * Yields the objects in the requested order. @throws {CacheError} DIGEST_MISMATCH for one that is missing or damaged
   */
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
  /** The proof that the requested id leads to `nativeTree`. */
  readonly proof: CommitProof;
}

interface TreeLine {
  readonly mode: string;
  readonly name: Uint8Array;
  readonly id: string;
}

const MAX_META_BYTES = 16 * 1024 * 1024;

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
  const { commit, tree, objects } = await readCommit(source, options.commit);
  const algorithm = algorithmOf(commit);
  const plan = createTreePlan(limits);
  const files: { node: TreeNode; id: string }[] = [];
  await planTree({ source, plan, files, limits }, tree);
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
  if (written.nativeTree !== tree) {
    throw mismatch(`the tree of commit "${commit}" has other content than its id "${tree}" says`);
  }
  const proof: CommitProof = { objects, ...(written.unusual.size === 0 ? {} : { unusual: [...written.unusual] }) };
  return { ...written, commit, nativeTree: tree, proof };
}

/** Whether a version is a full commit id. */
export function isFullId(version: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(version);
}

async function readCommit(
  source: ObjectSource,
  id: string,
): Promise<{ commit: string; tree: string; objects: CommitProof["objects"] }> {
  let current = id;
  const objects: [type: string, content: string][] = [];
  for (let steps = 0; steps < MAX_TAG_STEPS; steps += 1) {
    const { type, content } = await readWhole(source, current);
    const next = targetOf(type, content);
    if (next === undefined) {
      throw new CacheError("REFERENCE_NOT_FOUND", `Cannot use "${id}": it names a ${type} and not a commit`);
    }
    objects.push([type, content.toString("base64")]);
    if (type === "commit") return { commit: current, tree: next, objects };
    current = next;
  }
  throw new CacheError("REFERENCE_NOT_FOUND", `Cannot use "${id}": it is a tag of too many tags`);
}

/** Plans all entries, level by level. */
async function planTree(
  walk: { source: ObjectSource; plan: TreePlan; files: { node: TreeNode; id: string }[]; limits: Limits },
  root: string,
): Promise<void> {
  const { source, plan, files } = walk;
  let level: { prefix: string; id: string }[] = [{ prefix: "", id: root }];
  while (level.length > 0) {
    const trees = await readTrees(source, [...new Set(level.map(({ id }) => id))]);
    const next: typeof level = [];
    for (const { prefix, id } of level) {
      for (const line of trees.get(id) ?? []) {
        const path = Buffer.concat([Buffer.from(prefix), line.name]);
        const node = plan.add({ path, ...entryType(line, prefix) });
        if (node.type !== "dir") files.push({ node, id: line.id });
        else if (node.unusual === undefined) next.push({ prefix: `${node.path}/`, id: line.id });
      }
    }
    level = next;
  }
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
): { type: TreeNode["type"]; isExecutable?: boolean; unusual?: UnusualEntry } {
  // Git never writes such a name; as part of a path it would be a folder.
  if (line.name.includes(0x2f))
    throw unsafe(`${prefix}${Buffer.from(line.name).toString()}`, "has a name with a slash");
  switch (line.mode) {
    case "40000":
      return { type: "dir" };
    case "100644":
      return { type: "file" };
    case "100755":
      return { type: "file", isExecutable: true };
    case "100664":
      return { type: "file", unusual: { mode: line.mode } };
    case "120000":
      return { type: "link" };
    case "160000":
      // An empty folder, as git itself leaves when nobody asks for what is in it.
      return { type: "dir", unusual: { mode: line.mode, id: line.id } };
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
  if (!isObject(object.id, object.type, content))
    throw mismatch(`${object.type} "${object.id}" has other content than its id says`);
  return { type: object.type, content };
}

/** The error of content that is not what it should be. */
export function mismatch(problem: string): CacheError {
  return new CacheError("DIGEST_MISMATCH", `Cannot unpack component: ${problem}`);
}
