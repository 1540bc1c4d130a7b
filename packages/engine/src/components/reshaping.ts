import type { ComponentCache, ComponentRequest, ResolvedComponent, ResolveOptions } from "@steps/cache";

/** A component that the cache gave, and what it is called here. */
interface Reshaped {
  readonly found: ResolvedComponent;
  readonly as: ResolvedComponent;
}

/**
 * A cache that answers some requests in its own way; `undefined` leaves a request to the cache behind it. Copies are made
 * of what that cache gave, so that it can look at its trees again.
 */
export function reshaping(
  cache: ComponentCache,
  answer: (request: ComponentRequest, options: ResolveOptions) => Promise<Reshaped | undefined>,
): ComponentCache {
  const originals = new WeakMap<ResolvedComponent, ResolvedComponent>();
  return {
    async resolve(request, options = {}) {
      const reshaped = await answer(request, options);
      if (reshaped === undefined) return cache.resolve(request, options);
      originals.set(reshaped.as, reshaped.found);
      return reshaped.as;
    },
    materialize: (component, targetDir) => cache.materialize(originals.get(component) ?? component, targetDir),
    list: () => cache.list(),
    verify: () => cache.verify(),
    collect: (limits) => cache.collect(limits),
    [Symbol.asyncDispose]: () => cache[Symbol.asyncDispose](),
  };
}
