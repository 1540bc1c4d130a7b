import type { Socket } from "node:net";
import { networkOf } from "./client-address.ts";

/** The connections that one client may have for each one that is free. */
const SHARE = 4;

/**
 * The connections of all clients, of which there may be so many. A client may have four times as many as are free: one that takes all it
 * gets has four fifths of them, two have four ninths each, and there is always a place for one that has none.
 */
export class ClientConnections {
  readonly #max: number;
  readonly #counts = new Map<string, number>();
  #total = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** How many there are. */
  get total(): number {
    return this.#total;
  }

  /** Counts a connection until it is closed, or refuses it: because there are too many, or too many of its client. */
  take(socket: Socket): "taken" | "all" | "client" {
    const client = networkOf(socket.remoteAddress ?? "");
    const free = this.#max - this.#total;
    if (free <= 0) return "all";
    if ((this.#counts.get(client) ?? 0) >= SHARE * free) return "client";
    this.#add(client, 1);
    socket.once("close", () => this.#add(client, -1));
    return "taken";
  }

  #add(client: string, change: 1 | -1): void {
    const count = (this.#counts.get(client) ?? 0) + change;
    this.#total += change;
    if (count === 0) this.#counts.delete(client);
    else this.#counts.set(client, count);
  }
}
