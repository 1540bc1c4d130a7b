import { badRequest } from "../http/http-error.ts";
import type { Route } from "../http/context.ts";
import { chunksOf, contentLength, readJsonObject } from "../http/body.ts";
import { parseContentRange } from "../http/ranges.ts";
import { sendEmpty, sendJson } from "../http/send.ts";
import type { CacheEntry } from "../store/cache-entry.ts";
import type { CacheService } from "./cache-service.ts";

const BASE = "/_apis/artifactcache";
const MAX_LISTED = 100;

/**
 * The first protocol of caches: REST under `_apis/artifactcache/`, ranges sent by PATCH, downloads from a URL that needs
 * no token. Used by actions/cache up to v3 and by newer ones where the server is not github.com.
 */
export function cacheV1Routes(service: CacheService, linkTo: (entry: CacheEntry) => string): readonly Route[] {
  return [
    {
      method: "GET",
      path: pattern("/cache"),
      handle: async ({ url, response }) => {
        const keys = (url.searchParams.get("keys") ?? "").split(",");
        const entry = await service.find(keys, url.searchParams.get("version") ?? "");
        if (entry === undefined) return sendEmpty(response, 204);
        sendJson(response, 200, { ...describe(entry), archiveLocation: linkTo(entry) });
      },
    },
    {
      method: "GET",
      path: pattern("/caches"),
      handle: async ({ url, response }) => {
        const entries = await service.list(url.searchParams.get("key") ?? "");
        const artifactCaches = entries.slice(0, MAX_LISTED).map(describe);
        sendJson(response, 200, { totalCount: entries.length, artifactCaches });
      },
    },
    {
      method: "POST",
      path: pattern("/caches"),
      handle: async ({ request, response, limits }) => {
        const body = await readJsonObject(request, limits.maxJsonBytes);
        const [key, version] = [textOf(body, "key"), textOf(body, "version")];
        const { id } = await service.reserveRanges({ key, version, size: sizeOf(body, "cacheSize") });
        sendJson(response, 201, { cacheId: id });
      },
    },
    {
      method: "PATCH",
      path: pattern("/caches/(\\d{1,9})"),
      handle: async ({ request, response, params }) => {
        const range = parseContentRange(request.headers["content-range"]);
        if (range === undefined) throw badRequest("Content-Range is missing or cannot be");
        // Older clients send a part in chunks and without a length: the range says it all the same.
        const length = request.headers["content-length"] === undefined ? undefined : contentLength(request);
        if (length !== undefined && length !== range.end - range.start) {
          throw badRequest("Content-Length and Content-Range do not agree");
        }
        await service.rangesOf(Number(params[0])).write(range, chunksOf(request));
        sendEmpty(response, 204);
      },
    },
    {
      method: "POST",
      path: pattern("/caches/(\\d{1,9})"),
      handle: async ({ request, response, limits, params }) => {
        const body = await readJsonObject(request, limits.maxJsonBytes);
        await service.finish(Number(params[0]), sizeOf(body, "size"));
        sendEmpty(response, 204);
      },
    },
  ];
}

function pattern(path: string): RegExp {
  return new RegExp(`^${BASE}${path}$`);
}

function describe(entry: CacheEntry): Record<string, unknown> {
  return {
    cacheKey: entry.key,
    cacheVersion: entry.version,
    scope: entry.scope,
    creationTime: new Date(entry.createdAtMs).toISOString(),
  };
}

function textOf(body: Record<string, unknown>, name: string): string {
  const value = body[name];
  if (typeof value !== "string") throw badRequest(`"${name}" is not a text`);
  return value;
}

function sizeOf(body: Record<string, unknown>, name: string): number | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
    throw badRequest(`"${name}" is not a size`);
  return value;
}
