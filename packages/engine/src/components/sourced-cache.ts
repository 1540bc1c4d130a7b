import { pathToFileURL } from "@steps/platform/runtime";
import type { ComponentCache, ComponentRequest, ResolvedComponent, ResolveOptions } from "@steps/cache";
import type { Resource } from "@steps/model/event";
import { componentKindOf } from "@steps/model/kinds";
import { EngineError } from "../engine-error.ts";
import { type ComponentSource, findSource } from "./component-source.ts";
import { type Resolve, reshaping } from "./reshaping.ts";

/**
 * A cache that takes some components from elsewhere, by way of `stored`, and leaves the others to `cache`. They keep their
 * names; where they came from is in `downloadLocation`. A replay's pin is checked on every digest that it names if the substitute
 * is of the same kind, otherwise on `gitTree` alone.
 */
export function sourcedCache(
  cache: ComponentCache,
  stored: ComponentCache,
  sources: readonly ComponentSource[],
): ComponentCache {
  if (sources.length === 0) return cache;
  const resolve: Resolve = async (request, options) => {
    const source = findSource(sources, request);
    if (source === undefined) return undefined;
    if ("message" in source)
      throw new EngineError("REFERENCE_INVALID", `Cannot use --component-source: ${source.message}`);
    const { pin, ...rest } = options;
    const isSameKind = source.request.kind === request.kind;
    const found = await stored.resolve(source.request, { ...rest, ...(pin && isSameKind ? { pin } : {}) });
    const resource = renamed(request, found);
    if (pin !== undefined && !isSameKind) checkTree(pin, resource);
    const note = `Taken from ${source.shown} instead of ${resource.uri}`;
    return { ...found, resource, note };
  };
  return reshaping(cache, resolve, (url, options) => {
    const source = findSource(sources, { kind: "git", url, version: "HEAD" });
    const stands = source !== undefined && !("message" in source) && source.request.kind === "git";
    return stands ? stored.tags(source.request.url, options) : cache.tags(url, options);
  });
}

function renamed(request: ComponentRequest, { resource, isInPlace }: ResolvedComponent): Resource {
  const { downloadLocation, uri, kind } = resource;
  const asked = componentKindOf(request);
  const name = asked.name(request);
  const isHere = isInPlace === true || uri.startsWith("/");
  return {
    ...resource,
    kind: request.kind,
    uri: name.uri,
    requestedVersion: asked.isVersioned ? name.version : "",
    resolvedVersion: kind === request.kind ? resource.resolvedVersion : "",
    isMutable: true,
    downloadLocation: downloadLocation ?? (isHere ? pathToFileURL(uri).href : uri),
  };
}

function checkTree(pin: ResolveOptions["pin"] & object, { uri, digest }: Resource): void {
  const wanted = pin.digest["gitTree"];
  if (wanted !== undefined && wanted === digest["gitTree"]) return;
  throw new EngineError(
    "PIN_MISMATCH",
    `Cannot use component "${uri}": its gitTree is ${digest["gitTree"] ?? "unknown"}, the trace names ${wanted ?? "none"}`,
  );
}
