import { once } from "node:events";
import { connect, createServer, type ListenOptions, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import type { Random } from "../kit/random.ts";

/** A relay between clients and the servers that are there at the moment. It cuts connections when it is told to. */
export interface Relay {
  /** Its port, if it listens on one. */
  readonly port: number;
  /** New connections go to one of these, chosen at random: ports, or paths of sockets. Without any, they are cut off at once. */
  targets: readonly (number | string)[];
  /** Cuts some of the connections, in the middle of whatever is on its way. Gives how many. */
  readonly cut: (share: number) => number;
  readonly close: () => Promise<void>;
}

/** Starts a relay on a free port of the loopback interface, or at a socket. */
export async function startRelay(random: Random, path?: string): Promise<Relay> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((near) => {
    near.on("error", () => near.destroy());
    const { targets } = relay;
    if (targets.length === 0) return void near.destroy();
    const target = random.pick(targets);
    const far = typeof target === "number" ? connect(target, "127.0.0.1") : connect(target);
    const pair = [near, far] as const;
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) socket.on("error", end).on("close", end);
    near.pipe(far);
    far.pipe(near);
  });
  const options: ListenOptions = path === undefined ? { port: 0, host: "127.0.0.1" } : { path };
  await once(server.listen(options), "listening");
  const relay: Relay = {
    port: path === undefined ? (server.address() as AddressInfo).port : 0,
    targets: [],
    cut(share) {
      const chosen = Array.from(pairs).filter(() => random.next() < share);
      for (const [near, far] of chosen) {
        // A socket of the system knows no reset. One that is ending already, Node would never close after one, nor itself end.
        if (path === undefined && !near.writableEnded) near.resetAndDestroy();
        else near.destroy();
        far.destroy();
      }
      return chosen.length;
    },
    async close() {
      relay.targets = [];
      server.close();
      relay.cut(1);
      await once(server, "close");
    },
  };
  return relay;
}
