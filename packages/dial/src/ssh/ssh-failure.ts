import { DialError } from "../dial-error.ts";

/** The facts that are known when a connection could not be made. */
export interface SshFailure {
  /** Why we do not trust the server. */
  refusal: DialError | undefined;
  error: (Error & { readonly level?: string; readonly code?: unknown }) | undefined;
  /** The ways to log in that could not be tried. */
  readonly notes: string[];
}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly user: string;
}

/** Turns a failed connection into the error for the caller. The levels are those of ssh2. */
export function connectError({ refusal, error, notes }: SshFailure, { host, port, user }: Address): DialError {
  if (refusal !== undefined) return refusal;
  const message = error?.message ?? "it closed the connection";
  const options = error === undefined ? {} : { cause: error };
  const place = `'${host}' on port ${port}`;
  if (error?.level === "client-authentication" || /too many authentication failures/i.test(message)) {
    const because = notes.length === 0 ? "" : ` (${notes.join("; ")})`;
    return new DialError("DENIED", `The host '${host}' takes none of the keys of '${user}'${because}`, {
      ...options,
      hint: "Name the right key file, or add it to the agent (ssh-add); passwords are never asked for.",
    });
  }
  const isOdd = error?.level === "handshake" || (error?.level === "protocol" && !/connection lost/i.test(message));
  if (isOdd) return new DialError("PROTOCOL", `Cannot speak SSH with ${place}: ${message}`, options);
  return new DialError("UNREACHABLE", `Cannot reach ${place} over SSH: ${message}`, options);
}
