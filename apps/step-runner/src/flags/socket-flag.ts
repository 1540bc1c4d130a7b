// By itself, so that a proxy, which is started for each connection, loads nothing else.
import { flag } from "@steps/console";

/** The words of the flag for the path of the service's socket. */
export const socketNotes = { placeholder: "PATH", summary: "The path of the socket", env: "STEP_RUNNER_SOCKET" };

/** The flag for the path of the service's socket, for commands that call; it is shown as it was typed. */
export const socketFlag = { socket: flag.text(socketNotes) };
