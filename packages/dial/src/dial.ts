import type { Duplex } from "node:stream";

/**
 * Opens a new connection to a service: bytes written to the stream reach its socket, bytes read come from it. Writing
 * honours back-pressure (`write()` says false, `drain` follows), reading pauses when nobody reads. Destroying the stream
 * leaves nothing behind. Rejects with a {@link DialError}, or with the signal's reason.
 */
export type Dial = (signal: AbortSignal) => Promise<Duplex>;
