import { stat } from "node:fs/promises";
import type { Limits } from "@steps/transfer";
import { createTreePlan, readTar, type ReadTarOptions, type TreeNode, type TreePlan } from "@steps/transfer/archive";
import type { TreeWriter, WrittenTree } from "../tree/tree-writer.ts";
import { createTreeWriter } from "../tree/tree-writer.ts";
import { createOverlay, type OverlayNode } from "./overlay.ts";

export interface UnpackImageOptions {
  readonly limits: Limits;
  readonly signal?: AbortSignal | undefined;
}

/** A layer that is here. */
interface Layer {
  readonly path: string;
  readonly options: ReadTarOptions;
}

/** The places to write to: those of one content, and those of links. */
interface Places {
  readonly files: ReadonlyMap<string, readonly TreeNode[]>;
  readonly links: readonly { readonly node: TreeNode; readonly target: string }[];
}

/**
 * Unpacks the layers of an image to `dir`, the lowest first; without a folder they are only digested. They are read twice: for what there will be in the end, and
 * for the content of just that.
 *
 * @throws {CacheError} ARCHIVE_INVALID, ARCHIVE_TOO_LARGE, UNSAFE_ENTRY, CANCELLED
 */
export async function unpackImage(
  paths: readonly string[],
  dir: string | undefined,
  { limits, signal }: UnpackImageOptions,
): Promise<WrittenTree> {
  const layers = await openLayers(paths, limits, signal);
  const overlay = createOverlay(limits);
  for (const [layer, { path, options }] of layers.entries()) {
    let ordinal = 0;
    for await (const { content, ...entry } of readTar(path, options)) {
      void content;
      overlay.apply(entry, { layer, ordinal });
      ordinal += 1;
    }
  }
  const plan = createTreePlan(limits);
  const places = planPlaces(overlay.root, plan);
  const writer = await createTreeWriter(dir, plan, { limits, signal, nativeAlgorithm: "sha256" });
  for (const [layer, { path, options }] of layers.entries()) {
    let ordinal = 0;
    for await (const { content, size } of readTar(path, options)) {
      const [first, ...others] = places.files.get(`${layer}:${ordinal}`) ?? [];
      ordinal += 1;
      if (first === undefined) continue;
      await writer.writeFile(first, size, content);
      for (const node of others) await writer.repeatFile(node, first, size);
    }
  }
  await writeLinks(writer, places);
  return await writer.finish();
}

/** Each layer may unpack to many times its size only while it is small, and all together to what a component may have twice over. */
async function openLayers(paths: readonly string[], limits: Limits, signal: AbortSignal | undefined): Promise<Layer[]> {
  const layers: Layer[] = [];
  for (const [index, path] of paths.entries()) {
    const { size } = await stat(path);
    const maxBytes = Math.min(limits.maxTotalBytes * 2, Math.max(limits.ratioFloorBytes, size * limits.maxRatio));
    layers.push({ path, options: { maxBytes, signal, what: `layer ${index + 1} of image` } });
  }
  return layers;
}

function planPlaces(root: OverlayNode, plan: TreePlan): Places {
  const files = new Map<string, TreeNode[]>();
  const links: { node: TreeNode; target: string }[] = [];
  const walk = (folder: OverlayNode, prefix: string): void => {
    for (const [name, child] of folder.children) {
      const path = `${prefix}${name}`;
      const { type, isExecutable, source, target } = child;
      const node = plan.add({ path, type, isExecutable });
      if (type === "dir") walk(child, `${path}/`);
      else if (type === "link") links.push({ node, target: fromFolder(path, target) });
      else {
        const key = `${source.layer}:${source.ordinal}`;
        const nodes = files.get(key);
        if (nodes === undefined) files.set(key, [node]);
        else nodes.push(node);
      }
    }
  };
  walk(root, "");
  return { files, links };
}

// In a container such a link starts at the image's root; here the root is a folder. Where it leads is checked like any other.
function fromFolder(path: string, target: string): string {
  if (!target.startsWith("/")) return target;
  const depth = path.split("/").length - 1;
  return `${"../".repeat(depth)}${target.replace(/^\/+/, "")}` || ".";
}

async function writeLinks(writer: TreeWriter, { links }: Places): Promise<void> {
  for (const { node, target } of links) await writer.setLink(node, once(Buffer.from(target)));
}

async function* once(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk;
}
