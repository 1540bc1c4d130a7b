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
