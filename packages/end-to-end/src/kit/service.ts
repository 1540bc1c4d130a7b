import { once } from "node:events";
import { join } from "node:path";
import type { Dial } from "@steps/client";
import { dialUnix } from "@steps/dial";
import type { Running, User } from "./user.ts";

/** A service of the built command that listens on a socket of its own. */
export interface Service {
  readonly socket: string;
  readonly dial: Dial;
  readonly running: Running;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a service as a user; the next one of the same user takes over its socket and its state. */
export async function startService(user: User): Promise<Service> {
  const socket = join(user.dir, "run", "s.sock");
  const running = user.start(["serve", "--socket", socket]);
  await running.printed("is listening on socket");
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const { child } = running;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, "exit");
    child.kill(signal);
    await exit;
  };
  return {
    socket,
    dial: dialUnix({ path: socket }),
    running,
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
  };
}
