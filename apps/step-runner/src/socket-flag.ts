// By itself, so that a proxy, which is started for each connection, loads nothing else.
import type { Flags } from "@steps/console";

/** Where a service's socket is, for those that serve and those that call. */
export const socketFlag: Flags = {
  socket: { type: "string", placeholder: "PATH", summary: "The path of the socket", env: "STEP_RUNNER_SOCKET" },
};
