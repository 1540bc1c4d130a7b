import type { ComponentCache, ComponentRequest, ResolvedComponent, ResolveOptions } from "@steps/cache";

/** A cache that answers some requests in its own way; `undefined` leaves a request to the cache behind it. */
export function reshaping(
  cache: ComponentCache,
  answer: (request: ComponentRequest, options: ResolveOptions) => Promise<ResolvedComponent | undefined>,
): ComponentCache {
  return {
    resolve: async (request, options = {}) =>
      (await answer(request, options)) ?? (await cache.resolve(request, options)),
    list: () => cache.list(),
    verify: () => cache.verify(),
    collect: (limits) => cache.collect(limits),
    [Symbol.asyncDispose]: () => cache[Symbol.asyncDispose](),
  };
}
