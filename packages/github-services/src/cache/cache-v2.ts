import type { Route } from "../http/context.ts";
import { badRequest } from "../http/http-error.ts";
import type { BlockUpload } from "../store/block-upload.ts";
import type { CacheEntry } from "../store/cache-entry.ts";
import type { Field, Message } from "../twirp/message.ts";
import { textField, textsField } from "../twirp/message.ts";
import { twirpRoutes } from "../twirp/twirp.ts";
import type { CacheService } from "./cache-service.ts";

const OK: Field = { no: 1, name: "ok", kind: "bool" };
const KEY: Field = { no: 2, name: "key", kind: "text" };

/**
 * The second protocol of caches: the Twirp service `CacheService`, with uploads and downloads at signed URLs that
 * understand what Azure's client sends. Used by actions/cache from v4.2 on.
 */
export function cacheV2Routes(
  service: CacheService,
  links: {
    readonly toUpload: (upload: BlockUpload) => string;
    readonly toEntry: (entry: CacheEntry) => string;
  },
): readonly Route[] {
  return twirpRoutes("github.actions.results.api.v1.CacheService", {
    CreateCacheEntry: {
      request: [KEY, { no: 3, name: "version", kind: "text" }],
      response: [OK, { no: 2, name: "signed_upload_url", kind: "text" }],
      handle: async (message) => {
        const { upload } = await service.reserveBlocks(keyAndVersion(message));
        return { ok: true, signed_upload_url: links.toUpload(upload) };
      },
    },
    FinalizeCacheEntryUpload: {
      request: [KEY, { no: 3, name: "size_bytes", kind: "int64" }, { no: 4, name: "version", kind: "text" }],
      response: [OK, { no: 2, name: "entry_id", kind: "int64" }],
      handle: async (message) => {
        const size = Number(textField(message, "size_bytes") ?? "0");
        if (!Number.isSafeInteger(size)) throw badRequest("size_bytes is not a size");
        const { id } = await service.finish(keyAndVersion(message), size);
        return { ok: true, entry_id: String(id) };
      },
    },
    GetCacheEntryDownloadURL: {
      request: [KEY, { no: 3, name: "restore_keys", kind: "texts" }, { no: 4, name: "version", kind: "text" }],
      response: [
        OK,
        { no: 2, name: "signed_download_url", kind: "text" },
        { no: 3, name: "matched_key", kind: "text" },
      ],
      handle: async (message) => {
        const { key, version } = keyAndVersion(message);
        const entry = await service.find([key, ...textsField(message, "restore_keys")], version);
        if (entry === undefined) return { ok: false };
        return { ok: true, signed_download_url: links.toEntry(entry), matched_key: entry.key };
      },
    },
  });
}

function keyAndVersion(message: Message): { key: string; version: string } {
  return { key: textField(message, "key") ?? "", version: textField(message, "version") ?? "" };
}
