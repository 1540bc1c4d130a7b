import { chmodSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { UsageError } from "@steps/console";
import { complain, print } from "@steps/console/terminal";
import { messageOf } from "@steps/model";
import { ORIGINAL_VARIABLE } from "./original.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type HelperCommand = (args: readonly string[], env: Environment) => Promise<number>;

/** The commands that GitLab's runner calls for jobs whose caches, artifacts or logs its own helper takes care of. */
const NOT_OURS: Readonly<Record<string, string>> = {
  "artifacts-downloader": "fetches artifacts of other jobs (dependencies:, needs:)",
  "artifacts-uploader": "uploads artifacts (artifacts:)",
  "cache-archiver": "stores caches (cache:)",
  "cache-extractor": "fetches caches (cache:)",
  "proxy-exec": "starts a container's first command for runners with proxy_exec",
  "read-logs": "reads the log of a job in a pod",
};

const COMMANDS: Readonly<Record<string, HelperCommand>> = { "cache-init": cacheInit, "health-check": healthCheck };

/**
 * Returns the command that a job with `run:` needs of the program `gitlab-runner-helper` besides the group `steps`;
 * `undefined` for a word that is no command.
 *
 * @throws {UsageError} for what GitLab's own program has to be there for
 */
export function findHelperCommand(name: string, word: string): HelperCommand | undefined {
  const what = Object.hasOwn(NOT_OURS, word) ? NOT_OURS[word] : undefined;
  if (what !== undefined)
    throw new UsageError(
      `"${name} ${word}" ${what}, and only GitLab's own program does`,
      `Put GitLab's program beside this one as ${name}.original, or name it in ${ORIGINAL_VARIABLE}; or leave out of the job what needs it.`,
    );
  return Object.hasOwn(COMMANDS, word) ? COMMANDS[word] : undefined;
}

/** Opens the folders of new volumes to whatever user the job's image has. What fails is said, as GitLab's says it, and no more. */
async function cacheInit(paths: readonly string[]): Promise<number> {
  if (paths.length === 0)
    throw new UsageError("cache-init names no folder", "It takes the folders that are opened to all users.");
  for (const path of paths) {
    try {
      chmodSync(path, 0o777);
    } catch (error) {
      complain(`Cannot open "${path}" to all users: ${messageOf(error)}`);
    }
  }
  return await Promise.resolve(0);
}

const RETRY_MS = 1000;
const DIAL_MS = 300_000;

/**
 * Waits until a service of the job listens: on one of the ports that the environment has for it (`…_TCP_ADDR`,
 * `…_TCP_PORT`), or on all that `--port` names, here. The runner ends it when it has waited long enough.
 */
async function healthCheck(args: readonly string[], env: Environment): Promise<number> {
  const named = args.flatMap((arg, at) => {
    if (/^(?:--port|-p)$/.test(args[at - 1] ?? "")) return [arg];
    return /^--port=(.*)$/.exec(arg)?.slice(1) ?? [];
  });
  const found = (end: string): string[] =>
    Object.entries(env).flatMap(([name, value]) => (name.endsWith(end) && value !== undefined ? [value] : []));
  const host = named.length > 0 ? "localhost" : found("_TCP_ADDR").at(-1);
  const ports = named.length > 0 ? named : found("_TCP_PORT");
  if (host === undefined || ports.length === 0)
    throw new UsageError(
      "health-check knows no port",
      "Name it with --port, or link a service whose image exposes one.",
    );
  const stop = new AbortController();
  const checks = ports.map((port) => untilListening(host, port, stop.signal));
  await (named.length > 0 ? Promise.all(checks) : Promise.race(checks));
  stop.abort();
  return 0;
}

async function untilListening(host: string, port: string, signal: AbortSignal): Promise<void> {
  await print(`waiting for ${host}:${port}\n`);
  while (!(await isListening(host, Number(port), signal))) {
    if (signal.aborted) return;
    await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
  if (!signal.aborted) await print(`${host}:${port} listens\n`);
}

function isListening(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, signal });
    socket.setTimeout(DIAL_MS, () => socket.destroy());
    socket.once("connect", () => {
      resolve(true);
      socket.destroy();
    });
    socket.on("error", () => resolve(false));
    socket.once("close", () => resolve(false));
  });
}
