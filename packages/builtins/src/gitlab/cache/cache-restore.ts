import { messageOf, type Value } from "@steps/model";
import { type BuiltinPlace, type Inputs, textOf } from "../../images/builtin-images.ts";
import { extractArchive } from "../files/extract-archive.ts";
import { countFiles, type GitlabResult, optionalText, warn } from "../gitlab-step.ts";
import { entryPath, openArchive, touchEntry } from "../store/entry-store.ts";
import { CACHE_ARCHIVE, type CacheItem, readCacheItems } from "./cache-items.ts";
import { cacheKey, cleanKey } from "./cache-key.ts";

/** `gitlab/cache-restore`: unpacks the caches of a job into the project. Everything that goes wrong is a warning, never a failure. */
export async function restoreCaches(inputs: Inputs, place: BuiltinPlace): Promise<GitlabResult> {
  const store = textOf(inputs, "cache_dir");
  const last = optionalText(inputs, "fallback_key");
  const items = readCacheItems(inputs);
  const caches: Restored[] = [];
  for (const item of items) {
    if (item.isPulled) caches.push(await restoreOne(item, { store, last, place }));
    else place.log("A cache is not restored: its policy is push");
  }
  const isHit = caches.every(({ key, matched_key }) => key !== "" && key === matched_key);
  return { outputs: { caches: caches.map((cache): Value => ({ ...cache })), hit: caches.length > 0 && isHit } };
}

/** The result of restoring a cache. */
interface Restored {
  readonly key: string;
  /** The key under which one was found; empty without. */
  readonly matched_key: string;
  readonly digest: string;
  readonly files: number;
}

interface Restore {
  readonly store: string;
  readonly last: string;
  readonly place: BuiltinPlace;
}

async function restoreOne(item: CacheItem, { store, last, place }: Restore): Promise<Restored> {
  const keys: string[] = [];
  let key = "";
  try {
    key = await cacheKey(item.key, place);
    keys.push(key);
  } catch (error) {
    warn(place, `The cache is not restored: ${messageOf(error)}`);
    return { key, matched_key: "", digest: "", files: 0 };
  }
  for (const fallback of item.fallbackKeys) addKey(keys, fallback, place);
  if (last.endsWith("-protected")) warn(place, `The fallback key "${last}" is not allowed: it ends in -protected`);
  else if (last !== "") addKey(keys, last, place);
  for (const name of keys) {
    place.log(`Checking cache for ${name}...`);
    try {
      const found = await unpack(store, name, place);
      if (found === undefined) continue;
      place.log(`Restored ${countFiles(found.files)} of cache "${name}"`);
      return { key, matched_key: name, ...found };
    } catch (error) {
      warn(place, `The cache "${name}" is not restored: ${messageOf(error)}`);
    }
  }
  place.log(`No cache is kept under ${keys.map((name) => `"${name}"`).join(", ")}`);
  return { key, matched_key: "", digest: "", files: 0 };
}

function addKey(keys: string[], key: string, place: BuiltinPlace): void {
  try {
    keys.push(cleanKey(key));
  } catch (error) {
    warn(place, messageOf(error));
  }
}

async function unpack(
  store: string,
  key: string,
  place: BuiltinPlace,
): Promise<{ digest: string; files: number } | undefined> {
  const opened = await openArchive(entryPath(store, key), CACHE_ARCHIVE);
  if (opened?.file === undefined) return undefined;
  const { entry, file } = opened;
  try {
    const files = await extractArchive(file, { root: place.workDir });
    touchEntry(entry);
    return { digest: optionalText(entry.metadata, "digest"), files };
  } finally {
    await file.close();
  }
}
