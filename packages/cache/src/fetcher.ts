import type { ComponentRequest } from "@steps/model/kinds";
import type { FoundComponent, ResolveOptions } from "./component.ts";
import type { CacheContext } from "./context.ts";
import type { Proved } from "./open-indexed.ts";
import type { IndexEntry } from "./store/index-entry.ts";

/** Brings components of one kind here. The pure half of a kind is its record in `@steps/model`. */
export interface Fetcher<Request> {
  /** Finds a component, or fetches it. @throws {CacheError} */
  resolve(context: CacheContext, request: Request, options: ResolveOptions): Promise<FoundComponent>;
  /** Proves an entry of the index by what its version says alone; absent for a kind that is used where it is. */
  prove?(context: CacheContext, entry: IndexEntry): Proved | Promise<Proved>;
  /** Tells whether an entry may say that a version leads to this text; absent for a kind that is used where it is. */
  isResolved?(resolved: string): boolean;
}

type Fetchers = { readonly [Request in ComponentRequest as Request["kind"]]: () => Promise<Fetcher<Request>> };

/** Each kind is loaded when it is first used: a hit in the index pays for no archive reader and no git. */
const FETCHERS: Fetchers = {
  git: async () => (await import("./git/git-component.ts")).gitFetcher,
  zip: async () => (await import("./zip/zip-component.ts")).zipFetcher,
  oci: async () => (await import("./oci/oci-component.ts")).ociFetcher,
  local: async () => (await import("./local/local-component.ts")).localFetcher,
};

/** The fetcher of a request's, or of an entry's, kind. */
export async function fetcherOf<Request extends ComponentRequest>({
  kind,
}: {
  readonly kind: Request["kind"];
}): Promise<Fetcher<Request>> {
  return (await FETCHERS[kind]()) as never;
}
