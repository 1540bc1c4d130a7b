import type { ComponentRequest, ResolvedComponent } from "@steps/cache";
import type { LoadFailure } from "@steps/model/include";
import type { Resource } from "@steps/model/event";
import { CONTENT_FILE } from "@steps/model/kinds";
import { publicUrl } from "@steps/model/reference";
import { TransferError } from "@steps/transfer";
import type { IncludesOptions } from "./create-includes.ts";
import { type ReadFile, readFileIn } from "./folder-files.ts";
import { createGate } from "./gate.ts";
import { toFailure } from "./include-failure.ts";

const TIMEOUT_MS = 300_000;
const MAX_AT_ONCE = 8;

/** The fetches of one load through the cache, within the time for all of them. */
export interface Fetches {
  /** A repository at a branch, tag or commit. */
  readonly repository: (url: string, version: string) => Promise<ResolvedComponent | LoadFailure>;
  /** The tags of a repository. */
  readonly tags: (url: string) => Promise<readonly string[] | LoadFailure>;
  /** A file at a URL. `sha256` is its expected digest as 64 digits. */
  readonly file: (url: string, sha256?: string) => Promise<ReadFile | LoadFailure>;
  /** All components that were fetched. */
  readonly resources: () => readonly Resource[];
}

/** Starts the clock with the first fetch. */
export function createFetches({
  cache,
  signal,
  timeoutMs = TIMEOUT_MS,
}: Pick<IncludesOptions, "cache" | "signal" | "timeoutMs">): Fetches {
  const gate = createGate(MAX_AT_ONCE);
  const resources: Resource[] = [];
  let bound: AbortSignal | undefined;
  const run = async <T>(sought: Parameters<typeof toFailure>[1], fetch: (signal: AbortSignal) => Promise<T>) => {
    bound ??= boundOf(signal, timeoutMs);
    const within = bound;
    try {
      return await gate(() => fetch(within));
    } catch (error) {
      return toFailure(error, sought);
    }
  };
  const resolve = (request: ComponentRequest, within: AbortSignal): Promise<ResolvedComponent> => {
    return cache.resolve(request, { signal: within });
  };
  const keep = (found: ResolvedComponent): ResolvedComponent => {
    resources.push(found.resource);
    return found;
  };
  return {
    repository: (url, version) => {
      return run({ url, kind: "git" }, async (within) => keep(await resolve({ kind: "git", url, version }, within)));
    },
    tags: (url) => run({ url, kind: "git" }, (within) => cache.tags(url, { signal: within })),
    file: async (url, sha256) => {
      const found = await run({ url, kind: "file" }, async (within) => {
        return keep(await resolve({ kind: "file", url, sha256 }, within));
      });
      if ("problem" in found) return found;
      const read = readFileIn(found.dir, CONTENT_FILE, publicUrl(url));
      return "problem" in read ? { problem: `The server's answer cannot be read: ${read.problem}` } : read;
    },
    resources: () => resources,
  };
}

function boundOf(signal: AbortSignal | undefined, timeoutMs: number): AbortSignal {
  const bound = new AbortController();
  const seconds = Math.round(timeoutMs / 1000);
  const late = new TransferError("TRANSPORT", `Cannot fetch what is included: all of it took longer than ${seconds} s`);
  setTimeout(() => bound.abort(late), timeoutMs).unref();
  return signal === undefined ? bound.signal : AbortSignal.any([signal, bound.signal]);
}
