import type { CacheOptions, ComponentCache } from "@steps/cache";

/** A cache that is loaded when something is asked of it: a job of scripts alone never needs one. */
export function lazyCache(options: CacheOptions): ComponentCache {
  let opened: Promise<ComponentCache> | undefined;
  const open = (): Promise<ComponentCache> => {
    opened ??= import("@steps/cache").then(({ createCache }) => createCache(options));
    return opened;
  };
  return {
    resolve: async (request, resolveOptions) => (await open()).resolve(request, resolveOptions),
    tags: async (url, tagOptions) => (await open()).tags(url, tagOptions),
    list: async () => (await open()).list(),
    verify: async () => (await open()).verify(),
    collect: async (limits) => (await open()).collect(limits),
    [Symbol.asyncDispose]: async () => {
      // Whoever asked for a cache that cannot be opened was told why.
      const cache = await opened?.catch(() => undefined);
      await cache?.[Symbol.asyncDispose]();
    },
  };
}
