import type { Duplex } from "node:stream";

/** Opens a new connection to the service's socket; see `Dial` of `@steps/dial`. */
export type Dial = (signal: AbortSignal) => Promise<Duplex>;
