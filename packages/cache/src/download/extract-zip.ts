import { open } from "node:fs/promises";
import { readZip } from "@steps/transfer/archive";
import type { WrittenTree } from "../tree/tree-writer.ts";
import { createTreeWriter } from "../tree/tree-writer.ts";
import type { ExtractOptions } from "./download-location.ts";

/**
 * Unpacks an archive to `dir`; without a folder it is only digested.
 *
 * @throws {TransferError} ARCHIVE_INVALID, ARCHIVE_TOO_LARGE, UNSAFE_ENTRY
 */
export async function extractZip(path: string, dir: string | undefined, options: ExtractOptions): Promise<WrittenTree> {
  const { archiveBytes, limits, signal } = options;
  const file = await open(path);
  try {
    return await readZip(file, { limits, signal }, async ({ plan, members }) => {
      // The budget of a bomb: what it unpacks to may be many times its size only while it is small.
      const ratioBytes = Math.max(limits.ratioFloorBytes, archiveBytes * limits.maxRatio);
      const maxTotalBytes = Math.min(limits.maxTotalBytes, ratioBytes);
      const writer = await createTreeWriter(dir, plan, {
        limits: { ...limits, maxTotalBytes },
        signal,
        nativeAlgorithm: "sha256",
      });
      for (const { node, size, content } of members) {
        if (node.type === "link") await writer.setLink(node, content());
        else if (node.type === "file") await writer.writeFile(node, size, content());
      }
      return await writer.finish();
    });
  } finally {
    await file.close();
  }
}
