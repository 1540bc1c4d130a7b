import type { Log } from "@steps/model/operation";

/** The settings of a daemon. */
export interface DaemonOptions {
  /** Its pods: their numbers, and the URLs at which the daemon reaches them. */
  readonly pods: ReadonlyMap<number, URL>;
  /** The folder for its files, and for its database unless there is a URL. */
  readonly stateDir: string;
  /** A PostgreSQL that several processes of the daemon share: `postgres://…`. Default: an embedded database. */
  readonly databaseUrl?: string | undefined;
  /** The URL at which pods reach the daemon. Default: that of its own port. */
  readonly url?: string | undefined;
  /** Milliseconds for which a request for a job waits. Default: 50 s. */
  readonly pollHoldMs?: number | undefined;
  /** Takes what the daemon has to tell: no line holds a token. */
  readonly log?: Log | undefined;
}
