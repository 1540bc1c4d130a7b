import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { AwaitedService } from "./preparation.ts";

const RETRY_MS = 100;
const CONNECT_MS = 5000;
/** The second is the answer of an engine whose own source of names does not answer. */
const UNKNOWN: ReadonlySet<string> = new Set(["ENOTFOUND", "EAI_AGAIN"]);
/** The engine forgets the name of a container that has ended. */
const MAX_UNKNOWN = 5;

/** Waits until each service accepts a connection on one of its ports. Returns the names of those that did not in time. */
export async function awaitServices(
  services: readonly AwaitedService[],
  timeoutMs: number,
): Promise<readonly string[]> {
  const stop = AbortSignal.timeout(timeoutMs);
  const answers = await Promise.all(
    services.map(async (service) => ((await doesAnswer(service, stop)) ? [] : [service])),
  );
  return answers.flat().map(({ name }) => name);
}

async function doesAnswer({ host, ports }: AwaitedService, stop: AbortSignal): Promise<boolean> {
  let unknown = 0;
  while (!stop.aborted && unknown < MAX_UNKNOWN) {
    const tries = await Promise.all(ports.map((port) => tryToConnect({ host, port }, stop)));
    if (tries.includes("connected")) return true;
    unknown = tries.every((end) => end === "unknown") ? unknown + 1 : 0;
    await sleep(RETRY_MS, undefined, { signal: stop }).catch(() => undefined);
  }
  return false;
}

function tryToConnect(
  place: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<"connected" | "unknown" | "refused"> {
  return new Promise((resolve) => {
    const socket = connect({ ...place, signal });
    socket.setTimeout(CONNECT_MS, () => socket.destroy());
    socket.once("connect", () => {
      resolve("connected");
      socket.destroy();
    });
    socket.on("error", (error: NodeJS.ErrnoException) =>
      resolve(UNKNOWN.has(error.code ?? "") ? "unknown" : "refused"),
    );
    socket.once("close", () => resolve("refused"));
  });
}
