import { createReadStream } from "node:fs";
import { CONTENT_FILE } from "@steps/model/kinds";
import { createTreePlan } from "@steps/transfer/archive";
import { createTreeWriter, type WrittenTree } from "../tree/tree-writer.ts";
import type { ExtractOptions } from "./download-location.ts";

/** Makes a tree of one file in `dir`; without a folder the file is only digested. @throws {CacheError} ARCHIVE_TOO_LARGE */
export async function extractFile(
  path: string,
  dir: string | undefined,
  { archiveBytes, limits, signal }: ExtractOptions,
): Promise<WrittenTree> {
  const plan = createTreePlan(limits);
  const node = plan.add({ path: CONTENT_FILE, type: "file" });
  const writer = await createTreeWriter(dir, plan, { limits, signal, nativeAlgorithm: "sha256" });
  await writer.writeFile(node, archiveBytes, createReadStream(path));
  return await writer.finish();
}
