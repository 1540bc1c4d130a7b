import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bin, node, type Row } from "../measure.ts";
import { memoryOf, stop } from "../service.ts";

/** What stands in the table where a machine has one of the two databases alone. */
export const withoutPostgres: Row = {
  name: "pods on PostgreSQL",
  floor: "–",
  measured: "there is no PostgreSQL on this machine",
  ratio: undefined,
  target: "–",
  isMet: false,
};

/** A server in a process of its own. */
export interface ServerProcess extends AsyncDisposable {
  readonly url: string;
  /** Resident memory in MiB. */
  memory(): number;
  /** Processor time so far, in milliseconds. */
  processorTime(): number;
  kill(): Promise<void>;
}

/** A pod of the built command. */
export interface PodProcess extends ServerProcess {
  /** Opens the API of its owner. */
  readonly adminToken: string;
}

/** How a pod is started; one that had the state directory before goes on with it. */
export interface PodStart {
  readonly stateDir: string;
  readonly databaseUrl?: string | undefined;
  readonly flags?: readonly string[];
}

export async function startPod({ stateDir, databaseUrl, flags = [] }: PodStart): Promise<PodProcess> {
  mkdirSync(stateDir, { recursive: true });
  const database = databaseUrl === undefined ? [] : ["--database", databaseUrl];
  const args = ["serve", "--port", "0", "--state-dir", stateDir, "--log-format", "json", ...database, ...flags];
  const server = await startServer(join(bin, "pod"), args);
  return { ...server, adminToken: readFileSync(join(stateDir, "admin-token"), "utf8") };
}

/** Starts a daemon of the built command with one pod, which need not be there. */
export async function startDaemon(stateDir: string, flags: readonly string[]): Promise<PodProcess> {
  mkdirSync(stateDir, { recursive: true });
  const config = join(stateDir, "pods.json");
  writeFileSync(config, JSON.stringify({ pods: [{ number: 1, url: "http://127.0.0.1:9" }] }));
  const args = ["daemon", "--config", config, "--port", "0", "--state-dir", stateDir, "--log-format", "json", ...flags];
  const server = await startServer(join(bin, "pod"), args);
  return { ...server, adminToken: readFileSync(join(stateDir, "admin-token"), "utf8") };
}

/** Starts a router of the built command before one server. */
export async function startRouter(scratch: string, url: string): Promise<ServerProcess> {
  const config = join(scratch, "router.json");
  writeFileSync(config, JSON.stringify({ default: 1, pods: [{ number: 1, url }] }));
  return await startServer(join(bin, "pod"), ["router", "--config", config, "--port", "0"]);
}

/** Starts the floor: `node:http` alone. */
export async function startRawHttp(): Promise<ServerProcess> {
  const program = join(import.meta.dirname, "raw-http-server.ts");
  return await startServer(node, ["--disable-warning=ExperimentalWarning", program]);
}

async function startServer(program: string, args: readonly string[]): Promise<ServerProcess> {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  const pid = child.pid as number;
  return {
    url: await addressOf(child),
    memory: () => memoryOf(pid),
    processorTime: () => processorTimeOf(pid),
    kill: async () => {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
    [Symbol.asyncDispose]: async () => await stop(child),
  };
}

async function addressOf(child: ChildProcess): Promise<string> {
  let seen = "";
  for await (const chunk of child.stderr ?? []) {
    seen += String(chunk);
    const [url] = /(?<=listening at )http:[^\s"]+/.exec(seen) ?? [];
    if (url === undefined) continue;
    child.stderr?.resume();
    return url;
  }
  throw new Error(`The server did not start: ${seen}`);
}

/** Ticks of the system's clock are hundredths of a second. */
function processorTimeOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
