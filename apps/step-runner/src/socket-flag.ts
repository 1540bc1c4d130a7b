// By itself, so that a proxy, which is started for each connection, loads nothing else.
import type { Flags } from "@steps/console";

/** The flag for the path of the service's socket, for commands that serve and commands that call. */
export const socketFlag: Flags = {
  socket: { type: "string", placeholder: "PATH", summary: "The path of the socket", env: "STEP_RUNNER_SOCKET" },
};
