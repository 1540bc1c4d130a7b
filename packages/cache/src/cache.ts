import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { checkOptionNames, type OptionNames, withDefaults } from "@steps/model";
import type { ComponentRequest } from "@steps/model/kinds";
import type { ComponentCache, FoundComponent, ResolvedComponent, ResolveOptions } from "./component.ts";
import type { CacheContext } from "./context.ts";
import { DEFAULT_LIMITS, type Limits, throwIfCancelled } from "@steps/transfer";
import { asCacheError, CacheError } from "./cache-error.ts";
import { fetcherOf } from "./fetchers.ts";
import type { Flights } from "./single-flight.ts";
import { type Layout, openLayout } from "./store/layout.ts";
import { createLeases } from "./store/lease.ts";

/** The options of `createCache()`. Only `root` is required. */
export interface CacheOptions {
  /** The cache's folder. It is made with mode 0700; several processes may share it. */
  readonly root: string;
  /** The client for git: `auto` takes the program if there is one, and isomorphic-git otherwise. Default: `auto`. */
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
   * Whether a server that is asked over https and answers 401 gets the credentials that the user has for it: for a repository those
   * of `.netrc` and of git's credential helpers, for an archive or a file those of `.netrc` (ADR 51). They are looked for with `env`.
   * Default: `none`.
   */
  readonly gitCredentials?: "user" | "none";
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

const OPTION_NAMES: OptionNames<CacheOptions> = {
  root: true,
  git: true,
  isOffline: true,
  env: true,
  mirrors: true,
  gitCredentials: true,
  excluded: true,
  limits: true,
  verify: true,
};

/**
 * Opens a cache for one job. Nothing is touched before the first component is asked for.
 */
export function createCache(options: CacheOptions): ComponentCache {
  checkOptionNames("createCache()", options, OPTION_NAMES);
  const context = createContext(options);
  let isDisposed = false;

  const resolve = async (request: ComponentRequest, how: ResolveOptions = {}): Promise<ResolvedComponent> => {
    if (isDisposed) throw new CacheError("CACHE_IO", "Cannot resolve component: the cache was closed");
    throwIfCancelled(how.signal);
    try {
      const found = await (await fetcherOf(request)).resolve(context, request, how);
      checkPin(found, how);
      return { ...found, copyTo: (targetDir) => copy(found, request, targetDir) };
    } catch (error) {
      throwIfCancelled(how.signal);
      throw asCacheError(error, "resolve component");
    }
  };

  const copy = async (found: FoundComponent, request: ComponentRequest, targetDir: string): Promise<string> => {
    const { uri, digest } = found.resource;
    const gitTree = digest["gitTree"];
    if (found.isInPlace === true || gitTree === undefined) return found.dir;
    const { copyTree } = await import("./copy-tree.ts");
    try {
      if (await copyTree(context, gitTree, targetDir)) return targetDir;
      // A step of this job has written to the cache since: it is repaired.
      await resolve(request, { pin: found.resource });
      if (await copyTree(context, gitTree, targetDir)) return targetDir;
      throw new CacheError("DIGEST_MISMATCH", `Cannot copy component "${uri}": its files were changed`);
    } catch (error) {
      throw asCacheError(error, "copy component");
    }
  };

  return {
    resolve,
    tags: async (url, how = {}) => {
      throwIfCancelled(how.signal);
      try {
        return await (await import("./git/list-tags.ts")).listTags(context, url, how);
      } catch (error) {
        throw asCacheError(error, "list versions");
      }
    },
    list: async () => await (await import("./maintenance.ts")).listEntries(context),
    verify: async () => await (await import("./verify.ts")).verifyAll(context),
    collect: async (how) => await (await import("./collect.ts")).collect(context, how),
    async [Symbol.asyncDispose]() {
      isDisposed = true;
      await context.leases.release();
    },
  };
}

function createContext(options: CacheOptions): CacheContext {
  let layout: Layout | undefined;
  return {
    // A job whose steps are all on this machine needs no folder for the cache.
    get layout() {
      return (layout ??= openLayout(options.root));
    },
    limits: withDefaults(DEFAULT_LIMITS, options.limits),
    digests: new Map(),
    excluded: new Set(options.excluded?.map(realParent)),
    git: options.git ?? "auto",
    isOffline: options.isOffline ?? false,
    env: options.env ?? process.env,
    mirrors: options.mirrors ?? {},
    userCredentials: options.gitCredentials === "user" ? { accepted: new Map(), failed: new Map() } : undefined,
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

// Folders are looked at by their real names.
function realParent(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    // Its folder is not there yet, so nothing in it is looked at.
    return path;
  }
}
