import type { ComponentCache, ComponentRequest, ResolvedComponent, ResolveOptions } from "@steps/cache";

/** Resolves a request in another way than the cache behind; `undefined` leaves it to that one. */
export type Resolve = (request: ComponentRequest, options: ResolveOptions) => Promise<ResolvedComponent | undefined>;

/** A cache that answers some requests in its own way; `undefined` leaves a request to the cache behind it. */
export function reshaping(
  cache: ComponentCache,
  answer: Resolve,
  tags: ComponentCache["tags"] = (url, options) => cache.tags(url, options),
): ComponentCache {
  return {
    tags,
    resolve: async (request, options = {}) =>
      (await answer(request, options)) ?? (await cache.resolve(request, options)),
    list: () => cache.list(),
    verify: () => cache.verify(),
    collect: (limits) => cache.collect(limits),
    [Symbol.asyncDispose]: () => cache[Symbol.asyncDispose](),
  };
}
