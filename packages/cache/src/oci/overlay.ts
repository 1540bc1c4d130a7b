import type { Limits } from "@steps/transfer";
import { CacheError } from "../cache-error.ts";
import { nameProblem, quote, type TarEntry, unsafe } from "@steps/transfer/archive";

/** The place of a file's content: an entry of a layer. */
interface Source {
  readonly layer: number;
  readonly ordinal: number;
}

/** The node at a path once all layers lie over each other. */
export interface OverlayNode {
  readonly type: "file" | "dir" | "link";
  readonly isExecutable: boolean;
  readonly size: number;
  /** The target of a link. */
  readonly target: string;
  /** The content of a file. Hard links share it. */
  readonly source: Source;
  /** The layer that put it here, counted from the lowest, which is 0. */
  readonly layer: number;
  readonly children: Map<string, OverlayNode>;
}

/** The layers of an image, one over the other (OCI image specification, "Applying changesets"). */
export interface Overlay {
  readonly root: OverlayNode;
  /** Puts an entry of a layer over what is there. Layers come in order. @throws {CacheError} UNSAFE_ENTRY, ARCHIVE_TOO_LARGE */
  apply(entry: Omit<TarEntry, "content">, source: Source): void;
}

const WHITEOUT = ".wh.";
const OPAQUE = ".wh..wh..opq";

export function createOverlay(limits: Limits): Overlay {
  const root = createDir(-1);
  let entries = 0;
  return {
    root,
    apply(given, source) {
      const entry = { ...given, path: belowRoot(given.path) };
      entries += 1;
      if (entries > limits.maxEntries) {
        throw new CacheError(
          "ARCHIVE_TOO_LARGE",
          `Cannot unpack image: its layers have more than ${limits.maxEntries} entries`,
        );
      }
      if (entry.path === "" && entry.type === "dir") return;
      const parts = checkPath(entry.path, limits);
      const name = parts.pop() as string;
      // Looked for before the prefix, which it begins with as well.
      if (name === OPAQUE) {
        const folder = find(root, parts);
        if (folder?.type === "dir") hideChildren(folder, source.layer);
        return;
      }
      if (name.startsWith(WHITEOUT)) {
        hide(root, { parts, name: checkWhiteout(entry.path, name, limits), layer: source.layer });
        return;
      }
      put(
        openFolder(root, parts, { layer: source.layer, path: entry.path }),
        name,
        resolve(root, entry, { source, limits }),
      );
    },
  };
}

// The names in a layer are those of the image's root, whether they say so with a slash or not.
function belowRoot(path: string): string {
  return path.replace(/^(?:\.?\/+)+/, "");
}

function createDir(layer: number): OverlayNode {
  const source = { layer, ordinal: -1 };
  return { type: "dir", isExecutable: false, size: 0, target: "", source, layer, children: new Map() };
}

function checkPath(path: string, limits: Limits): string[] {
  // The archive's reader puts this sign where bytes are not UTF-8, and two names could become one.
  if (path.includes("\u{fffd}")) throw unsafe(path, "is not UTF-8");
  if (Buffer.byteLength(path) > limits.maxPathBytes) throw unsafe(path, "is too long");
  const parts = path.split("/");
  if (parts.length > limits.maxDepth) throw unsafe(path, `is more than ${limits.maxDepth} folders deep`);
  for (const part of parts) {
    const problem = nameProblem(part, limits);
    if (problem !== undefined) throw unsafe(path, problem);
  }
  return parts;
}

function checkWhiteout(path: string, name: string, limits: Limits): string | undefined {
  const hidden = name.slice(WHITEOUT.length);
  // Names that older file systems kept for themselves.
  if (hidden.startsWith(WHITEOUT)) return undefined;
  if (nameProblem(hidden, limits) !== undefined) throw unsafe(path, "hides something that cannot be there");
  return hidden;
}

function find(root: OverlayNode, parts: readonly string[]): OverlayNode | undefined {
  let node: OverlayNode | undefined = root;
  for (const part of parts) node = node?.type === "dir" ? node.children.get(part) : undefined;
  return node;
}

// A whiteout is about the layers below its own, wherever in its layer it stands.
function hide(root: OverlayNode, where: { parts: string[]; name: string | undefined; layer: number }): void {
  const folder = find(root, where.parts);
  if (folder?.type !== "dir" || where.name === undefined) return;
  const node = folder.children.get(where.name);
  if (node !== undefined && !survives(node, where.layer)) folder.children.delete(where.name);
}

function hideChildren(folder: OverlayNode, layer: number): void {
  for (const [name, child] of folder.children) if (!survives(child, layer)) folder.children.delete(name);
}

function survives(node: OverlayNode, layer: number): boolean {
  if (node.type === "dir") hideChildren(node, layer);
  return node.layer === layer || node.children.size > 0;
}

function openFolder(
  root: OverlayNode,
  parts: readonly string[],
  { layer, path }: { layer: number; path: string },
): OverlayNode {
  let folder = root;
  for (const part of parts) {
    let next = folder.children.get(part);
    if (next === undefined) {
      next = createDir(layer);
      folder.children.set(part, next);
    }
    if (next.type !== "dir") throw unsafe(path, `is below the ${next.type} ${quote(part)}`);
    folder = next;
  }
  return folder;
}

function resolve(
  root: OverlayNode,
  entry: Omit<TarEntry, "content">,
  { source, limits }: { source: Source; limits: Limits },
): OverlayNode {
  const { type, isExecutable, size, target } = entry;
  const { layer } = source;
  if (type !== "hardlink") return { type, isExecutable, size, target, source, layer, children: new Map() };
  const found = find(root, checkPath(belowRoot(target), limits));
  if (found === undefined || found.type === "dir") {
    throw unsafe(entry.path, `is a link to ${quote(target)}, where no file is`);
  }
  return { ...found, layer };
}

function put(folder: OverlayNode, name: string, node: OverlayNode): void {
  const existing = folder.children.get(name);
  const isMerge = existing?.type === "dir" && node.type === "dir";
  folder.children.set(name, isMerge ? { ...node, children: existing.children } : node);
}
