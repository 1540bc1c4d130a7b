import type { Value } from "@steps/model";
import { type Inputs, invalid } from "../../images/builtin-images.ts";
import { objectList, optionalText, stringList } from "../gitlab-step.ts";

/** One cache of a job. */
export interface CacheItem {
  /** A text, or an object with `files` or `files_commits` and `prefix`. */
  readonly key: Value;
  readonly fallbackKeys: readonly string[];
  readonly paths: readonly string[];
  readonly untracked: boolean;
  readonly isPulled: boolean;
  readonly isPushed: boolean;
}

/** The archive in the folder of a cache. */
export const CACHE_ARCHIVE = "cache.zip";

const POLICIES: Readonly<Record<string, Pick<CacheItem, "isPulled" | "isPushed">>> = {
  "pull-push": { isPulled: true, isPushed: true },
  pull: { isPulled: true, isPushed: false },
  push: { isPulled: false, isPushed: true },
};

/** The caches of a step's inputs; those without files are none. @throws {BuiltinError} BUILTIN_FAILED */
export function readCacheItems(inputs: Inputs): CacheItem[] {
  const items = objectList(inputs["caches"] ?? [], "caches").map((item, index): CacheItem => {
    const policy = optionalText(item, "policy") || "pull-push";
    const ways = Object.hasOwn(POLICIES, policy) ? POLICIES[policy] : undefined;
    if (ways === undefined) throw invalid(`caches[${index}]: policy "${policy}" is none of pull-push, pull, push`);
    return {
      ...ways,
      key: item["key"] ?? "",
      fallbackKeys: stringList(item["fallback_keys"] ?? [], `caches[${index}].fallback_keys`),
      paths: stringList(item["paths"] ?? [], `caches[${index}].paths`),
      untracked: item["untracked"] === true,
    };
  });
  return items.filter(({ paths, untracked }) => paths.length > 0 || untracked);
}
