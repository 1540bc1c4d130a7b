import type { Stats } from "node:fs";
import { lstatSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { FoundEntry } from "../tree/tree-hash.ts";
import { writeAtomically } from "./index-entry.ts";
import type { Layout } from "./layout.ts";
import { treePath } from "./layout.ts";
import { processIdentity } from "./process-identity.ts";

/** Path, mode, size, inode, modification and change time in milliseconds. */
type Line = readonly [path: string, mode: number, size: number, inode: number, mtimeMs: number, ctimeMs: number];

interface Manifest {
  readonly format: 1;
  /**
   * The boot that it was written in. Files are not synced one by one when they are unpacked, so after a crash of the
   * machine the times may be right and the content not: under another boot the tree is read once in full.
   */
  readonly boot: string;
  readonly lines: readonly Line[];
}

/** Whether a tree looks exactly as it did when it was last read in full. The change time cannot be set back by a step. */
export function matchesManifest(layout: Layout, gitTree: string): boolean {
  const manifest = readManifest(layout, gitTree);
  if (manifest === undefined || manifest.boot !== processIdentity().boot) return false;
  const dir = treePath(layout, gitTree);
  try {
    return manifest.lines.every((line) => {
      const stats = lstatSync(join(dir, line[0]), { throwIfNoEntry: false });
      return stats !== undefined && toLine(line[0], stats).every((value, index) => value === line[index]);
    });
  } catch {
    // A folder that became a file, or cannot be entered: odd enough for a full look.
    return false;
  }
}

/** The paths of a tree with what they are, in the order folder first; `undefined` without a manifest. */
export function manifestPaths(layout: Layout, gitTree: string): { path: string; mode: number }[] | undefined {
  return readManifest(layout, gitTree)?.lines.map(([path, mode]) => ({ path, mode }));
}

/** Records how a tree looks that was just written or read in full. */
export async function writeManifest(layout: Layout, gitTree: string, entries: readonly FoundEntry[]): Promise<void> {
  const lines = entries.map(({ path, stats }) => toLine(path, stats));
  const manifest: Manifest = { format: 1, boot: processIdentity().boot, lines };
  await writeAtomically(layout, manifestPath(layout, gitTree), JSON.stringify(manifest));
}

/** Forgets how a tree looked. */
export async function removeManifest(layout: Layout, gitTree: string): Promise<void> {
  await rm(manifestPath(layout, gitTree), { force: true });
}

function readManifest(layout: Layout, gitTree: string): Manifest | undefined {
  try {
    const parsed = JSON.parse(readFileSync(manifestPath(layout, gitTree), "utf8")) as Manifest;
    return parsed.format === 1 && Array.isArray(parsed.lines) && parsed.lines.length > 0 ? parsed : undefined;
  } catch {
    // Missing or damaged: the tree is read in full instead.
    return undefined;
  }
}

function manifestPath(layout: Layout, gitTree: string): string {
  return `${treePath(layout, gitTree)}.man`;
}

function toLine(path: string, stats: Stats): Line {
  return [path, stats.mode, stats.size, stats.ino, stats.mtimeMs, stats.ctimeMs];
}
