import type { Limits } from "@steps/transfer";
import type { UserCredentials } from "./credentials/user-credentials.ts";
import type { Flights } from "./single-flight.ts";
import type { Layout } from "./store/layout.ts";
import type { Leases } from "./store/lease.ts";

/** The digests of files that were read before, so that a folder that many steps use is read only once. */
type FileDigests = Map<string, { readonly signature: string; readonly digest: string }>;

/** The state that the parts of one cache object share. */
export interface CacheContext {
  /** The folders of the cache, which are made when they are first asked for. */
  readonly layout: Layout;
  readonly limits: Limits;
  readonly git: "auto" | "system" | "isomorphic";
  readonly isOffline: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly mirrors: Readonly<Record<string, string>>;
  /** What is known of the user's credentials; `undefined` where they are not used. */
  readonly userCredentials: UserCredentials | undefined;
  readonly isFullCheck: boolean;
  readonly leases: Leases;
  /** The digests of files in folders that were read before. */
  readonly digests: FileDigests;
  /** Absolute paths that belong to no local component. */
  readonly excluded: ReadonlySet<string>;
  /** Operations that concern the shared folder: one table for the whole process. */
  readonly sharedFlights: Flights;
  /** Look-ups of this object: a new object never joins an older one's look-up. */
  readonly ownFlights: Flights;
  /** The meanings that changeable versions had when this object first asked for them. */
  readonly frozen: Map<string, string>;
}
