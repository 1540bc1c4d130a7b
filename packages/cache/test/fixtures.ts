import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import type { CacheErrorCode, CacheOptions, ComponentCache } from "../src/index.ts";
import { createCache, isCacheError } from "../src/index.ts";

export const BACKENDS = ["system", "isomorphic"] as const;

/** A cache object on a folder of its own, unless told otherwise. */
export function openCache(options: Partial<CacheOptions> = {}): ComponentCache {
  return createCache({ root: join(tempDir(), "cache"), ...options });
}

/** Everything in a folder: content by path, `-> target` for links, `x ` before programs. */
export function snapshot(dir: string, prefix = ""): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    const stats = lstatSync(path);
    if (stats.isDirectory()) Object.assign(found, snapshot(path, `${prefix}${name}/`));
    else if (stats.isSymbolicLink()) found[prefix + name] = `-> ${readlinkSync(path)}`;
    else found[prefix + name] = ((stats.mode & 0o100) === 0 ? "" : "x ") + readFileSync(path, "utf8");
  }
  return found;
}

/** The code that a promise fails with; what it gives, if it does not fail. */
export async function codeOf(promise: Promise<unknown>): Promise<CacheErrorCode | { value: unknown }> {
  try {
    return { value: await promise };
  } catch (error) {
    if (isCacheError(error)) return error.code;
    throw error;
  }
}

/** Names below the cache's root that would be left over by something unfinished. */
export function leftovers(root: string): string[] {
  return ["tmp", "locks", "trash"].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
  );
}
