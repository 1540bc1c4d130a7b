import type { Service } from "../create-service.ts";
import { createConnections } from "./connections.ts";
import type { Listener } from "./listener.ts";
import { listenAt } from "./socket-file.ts";

/**
 * Serves on a unix socket, HTTP/2 without TLS. The folder is made with mode 0700 if it is not there, the socket has mode
 * 0600: who may connect may do everything, unless jobs have tokens.
 *
 * @throws {ServiceError} SOCKET_IN_USE if a service runs there; SOCKET_UNUSABLE
 */
export async function listenUnix(service: Service, path: string): Promise<Listener> {
  const connections = createConnections(service.handle);
  const { server } = connections;
  const file = await listenAt(server, path);
  server.on("error", (error: NodeJS.ErrnoException) =>
    service.log("error", "A connection was not taken", { reason: error.code }),
  );
  return {
    address: path,
    connectionCount: () => connections.count(),
    refuse: () => {
      file.remove();
      server.close();
      connections.goAway();
    },
    ended: () => connections.ended(),
    destroy: async () => {
      file.remove();
      server.close();
      connections.destroy();
      await connections.ended();
    },
  };
}
