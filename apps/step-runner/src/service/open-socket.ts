import { connect, type Socket } from "node:net";
import { socketPlaces } from "@steps/model/socket-path";

/** A connection to a service, or where none was found and why. */
export type OpenedSocket =
  | { readonly socket: Socket; readonly problem?: undefined }
  | { readonly socket?: undefined; readonly problem: string };

/**
 * A connection to the service: at the path that was given, or else at the first of the usual places where somebody
 * listens. Bridges start a process of its own for each connection, so little is loaded here.
 */
export async function openSocket(given: string | undefined): Promise<OpenedSocket> {
  const failures: string[] = [];
  for (const path of given === undefined ? socketPlaces(process.env).all : [given]) {
    try {
      return { socket: await dial(path) };
    } catch (cause) {
      failures.push(`"${path}" (${(cause as NodeJS.ErrnoException).code ?? String(cause)})`);
    }
  }
  return { problem: `No service listens on ${failures.join(" or ")}` };
}

function dial(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}
