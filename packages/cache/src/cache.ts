import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { withDefaults } from "@steps/model";
import type {
  ComponentCache,
  ComponentRequest,
  FoundComponent,
  ResolvedComponent,
  ResolveOptions,
} from "./component.ts";
import type { CacheContext } from "./context.ts";
import { CacheError, DEFAULT_LIMITS, type Limits, throwIfCancelled } from "@steps/transfer";
import { asCacheError } from "./cache-error.ts";
import type { FileDigests } from "./local/local-component.ts";
import type { Flights } from "./single-flight.ts";
import { openLayout } from "./store/layout.ts";
import { createLeases } from "./store/lease.ts";

export interface CacheOptions {
  /** The cache's folder. It is made with mode 0700; several processes may share it. */
  readonly root: string;
  /** How to speak git: `auto` takes the program if there is one. */
  readonly git?: "auto" | "system" | "isomorphic";
  /** Uses only what is here already, repositories and archives on the disk included. */
  readonly isOffline?: boolean;
  /** The environment from which `PATH`, the proxy and the ssh variables are taken. Default: that of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * URL prefixes to be replaced, with their replacements, when a component is fetched. `Resource.uri` keeps the URL
   * that the author wrote.
   */
  readonly mirrors?: Readonly<Record<string, string>>;
  /**
   * Absolute paths that do not belong to a local component, such as that of the trace that is written into its folder.
   */
  readonly excluded?: readonly string[];
  readonly limits?: Partial<Limits>;
  /** `auto` looks at sizes and times first and reads a tree only when something is odd; `always` reads it every time. */
  readonly verify?: "auto" | "always";
}

/** Operations on shared folders, one table for all cache objects of this process. */
const sharedFlights: Flights = new Map();

/**
 * Opens a cache for one job. Nothing is touched before the first component is asked for.
 */
export function createCache(options: CacheOptions): ComponentCache {
  const excluded = new Set(options.excluded?.map(realParent));
  const digests: FileDigests = new Map();
  const limits: Limits = withDefaults(DEFAULT_LIMITS, options.limits);
  const open = once(() => createContext(options, limits));
  let isDisposed = false;

  const resolve = async (request: ComponentRequest, how: ResolveOptions = {}): Promise<ResolvedComponent> => {
    if (isDisposed) throw new CacheError("CACHE_IO", "Cannot resolve component: the cache was closed");
    throwIfCancelled(how.signal);
    try {
      const found = await dispatch(request, how);
      checkPin(found, how);
      return { ...found, copyTo: (targetDir) => copy(found, request, targetDir) };
    } catch (error) {
      throwIfCancelled(how.signal);
      throw asCacheError(error, "resolve component");
    }
  };

  // Each kind is loaded when it is first used: a hit in the index pays for no archive reader and no git.
  const dispatch = async (request: ComponentRequest, how: ResolveOptions): Promise<FoundComponent> => {
    switch (request.kind) {
      case "git":
        return await (await import("./git/git-component.ts")).resolveGit(open(), request, how);
      case "zip":
        return await (await import("./zip/zip-component.ts")).resolveZip(open(), request, how);
      case "oci":
        return await (await import("./oci/oci-component.ts")).resolveOci(open(), request, how);
      case "local":
        return await (
          await import("./local/local-component.ts")
        ).resolveLocal(request, { ...how, limits, digests, excluded });
    }
  };

  const copy = async (found: FoundComponent, request: ComponentRequest, targetDir: string): Promise<string> => {
    const { kind, uri, digest } = found.resource;
    const gitTree = digest["gitTree"];
    if (kind === "local" || gitTree === undefined) return found.dir;
    const { copyTree } = await import("./copy-tree.ts");
    try {
      if (await copyTree(open(), gitTree, targetDir)) return targetDir;
      // A step of this job has written to the cache since: it is repaired.
      await resolve(request, { pin: found.resource });
      if (await copyTree(open(), gitTree, targetDir)) return targetDir;
      throw new CacheError("DIGEST_MISMATCH", `Cannot copy component "${uri}": its files were changed`);
    } catch (error) {
      throw asCacheError(error, "copy component");
    }
  };

  return {
    resolve,
    list: async () => await (await import("./maintenance.ts")).listEntries(open()),
    verify: async () => await (await import("./verify.ts")).verifyAll(open()),
    collect: async (how) => await (await import("./collect.ts")).collect(open(), how),
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      if (open.value !== undefined) await open.value.leases.release();
    },
  };
}

function createContext(options: CacheOptions, limits: Limits): CacheContext {
  return {
    layout: openLayout(options.root),
    limits,
    git: options.git ?? "auto",
    isOffline: options.isOffline ?? false,
    env: options.env ?? process.env,
    mirrors: options.mirrors ?? {},
    isFullCheck: options.verify === "always",
    leases: createLeases(),
    sharedFlights,
    ownFlights: new Map(),
    frozen: new Map(),
  };
}

/** A pinned component must have every digest that the trace names, as far as its kind has them. */
function checkPin(component: FoundComponent, { pin }: ResolveOptions): void {
  if (pin === undefined) return;
  const { resource } = component;
  const fail = (problem: string): CacheError =>
    new CacheError("PIN_MISMATCH", `Cannot use component "${resource.uri}": ${problem}`);
  if (pin.kind !== resource.kind) throw fail(`it is of kind "${resource.kind}", the trace names "${pin.kind}"`);
  const keys = ["gitCommit", "sha256", "gitTree"].filter((key) => pin.digest[key] !== undefined);
  if (keys.length === 0) throw fail("the trace names no digest");
  for (const key of keys) {
    const actual = resource.digest[key];
    if (actual !== pin.digest[key])
      throw fail(`its ${key} is ${actual ?? "unknown"}, the trace names ${pin.digest[key]}`);
  }
}

function once<T>(make: () => T): (() => T) & { readonly value: T | undefined } {
  let value: T | undefined;
  const get = (): T => (value ??= make());
  return Object.defineProperty(get, "value", { get: () => value }) as typeof get & { readonly value: T | undefined };
}

// Folders are looked at by their real names.
function realParent(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    // Its folder is not there yet, so nothing in it is looked at.
    return path;
  }
}
