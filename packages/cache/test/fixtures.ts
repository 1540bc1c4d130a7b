import { readdirSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import type { CacheErrorCode, CacheOptions, ComponentCache } from "../src/index.ts";
import { createCache, isCacheError } from "../src/index.ts";

export const BACKENDS = ["system", "isomorphic"] as const;

/** A cache object on a folder of its own, unless told otherwise. */
export function openCache(options: Partial<CacheOptions> = {}): ComponentCache {
  return createCache({ root: join(tempDir(), "cache"), ...options });
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
