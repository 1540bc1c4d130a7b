import { createHash } from "node:crypto";
import { constants, readlinkSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, type Value } from "@steps/model";
import { writeZip, type ZipSource } from "@steps/transfer/archive";
import { type BuiltinPlace, type Inputs, textOf } from "../../images/builtin-images.ts";
import { collectFiles } from "../files/collect-files.ts";
import { compressionLevel } from "../files/compression.ts";
import { untrackedFiles } from "../files/untracked-files.ts";
import { countFiles, formatBytes, type GitlabResult, optionalText, warn } from "../gitlab-step.ts";
import { entryPath, openArchive, publishEntry } from "../store/entry-store.ts";
import { CACHE_ARCHIVE, type CacheItem, readCacheItems } from "./cache-items.ts";
import { cacheKey } from "./cache-key.ts";

/** `gitlab/cache-save`: keeps files for later runs of jobs with the same key. A failure is a warning. */
export async function saveCaches(inputs: Inputs, place: BuiltinPlace): Promise<GitlabResult> {
  const store = textOf(inputs, "cache_dir");
  const level = compressionLevel(inputs, place);
  const items = readCacheItems(inputs);
  const caches: Value[] = [];
  for (const item of items) {
    if (!item.isPushed) {
      place.log("A cache is not saved: its policy is pull");
      continue;
    }
    let key = "";
    try {
      key = await cacheKey(item.key, place);
      caches.push({ key, ...(await saveOne(item, key, { store, level, place })) });
    } catch (error) {
      warn(place, `The cache ${key === "" ? "" : `"${key}" `}is not saved: ${messageOf(error)}`);
      caches.push({ key, saved: false, digest: "", size: 0, files: 0 });
    }
  }
  return { outputs: { caches } };
}

/** The result of saving a cache. */
interface Saved extends Readonly<Record<string, Value>> {
  /** False where the store has a cache with the same files already. */
  readonly saved: boolean;
  readonly digest: string;
  readonly size: number;
  readonly files: number;
}

interface Save {
  readonly store: string;
  readonly level: number;
  readonly place: BuiltinPlace;
}

async function saveOne(item: CacheItem, key: string, { store, level, place }: Save): Promise<Saved> {
  place.log(`Creating cache ${key}...`);
  const sources = collectFiles({
    root: place.workDir,
    paths: item.paths,
    exclude: [],
    untracked: item.untracked ? await untrackedFiles(place) : undefined,
    stores: [store],
    log: place.log,
    warn: (line) => warn(place, line),
  });
  const files = sources.length;
  if (files === 0) {
    warn(place, `No files to keep in cache "${key}": it stays as it is`);
    return { saved: false, digest: "", size: 0, files };
  }
  const path = entryPath(store, key);
  const content = await contentOf(sources);
  const present = await presentArchive(path, content);
  if (present !== undefined) {
    place.log(`The cache "${key}" is up to date`);
    return { saved: false, ...present, files };
  }
  let zip = { digest: "", size: 0 };
  await publishEntry(path, {
    async write(dir) {
      zip = await writeZip(join(dir, CACHE_ARCHIVE), sources, level);
      const createdAt = new Date().toISOString();
      return { key, digest: `sha256:${zip.digest}`, size: zip.size, files, content, createdAt };
    },
  });
  place.log(`Saved ${countFiles(files)} in cache "${key}": ${formatBytes(zip.size)}`);
  return { saved: true, digest: `sha256:${zip.digest}`, size: zip.size, files };
}

/** The archive that is there, if it is whole and has the same files. */
async function presentArchive(path: string, content: string): Promise<{ digest: string; size: number } | undefined> {
  const opened = await openArchive(path, CACHE_ARCHIVE).catch(() => undefined);
  if (opened?.file === undefined) return undefined;
  await opened.file.close();
  const { metadata } = opened.entry;
  if (metadata["content"] !== content) return undefined;
  return { digest: optionalText(metadata, "digest"), size: Number(metadata["size"]) };
}

const READ = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);

/** A digest of names, permissions and contents. Times do not count: a restored file has another one. */
async function contentOf(sources: readonly ZipSource[]): Promise<string> {
  const hash = createHash("sha256");
  for (const { name, path, type, mode, size } of sources) {
    hash.update(`${type} ${mode & 0o777} ${type === "file" ? size : 0} ${name}\0`);
    if (type === "link") hash.update(`${readlinkSync(path)}\0`);
    if (type !== "file") continue;
    const file = await open(path, READ);
    for await (const chunk of file.createReadStream({ highWaterMark: 256 * 1024 })) hash.update(chunk as Buffer);
  }
  return hash.digest("hex");
}
