// By itself, so that a proxy, which is started for each connection, loads nothing else.
import { flag } from "@steps/console";

/** The flag for the path of the service's socket, for commands that serve and commands that call. */
export const socketFlag = {
  socket: flag.text({ placeholder: "PATH", summary: "The path of the socket", env: "STEP_RUNNER_SOCKET" }),
};
