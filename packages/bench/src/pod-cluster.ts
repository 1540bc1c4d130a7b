import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { command } from "./measure.ts";
import { stop, waitFor } from "./service.ts";

/** Two pods and a router, with a daemon or without one, as processes of the built command. */
export interface PodCluster extends AsyncDisposable {
  readonly routerUrl: string;
  readonly podUrls: readonly [string, string];
  /** Calls the API of the owner of a pod; 0 is the daemon. */
  readonly admin: <T>(pod: number, method: string, path: string, body?: unknown) => Promise<T>;
  /** Seconds of processor time that all of its processes have used. */
  readonly cpu: () => number;
  /** MiB of memory that all of them have. */
  readonly memory: () => number;
  /** Requests that pods and daemon have answered, those between them included. */
  readonly requests: () => Promise<number>;
}

const pod = join(dirname(command), "pod");
/** A hundredth of a second, in which Linux counts. */
const TICKS = 100;

/** Starts a cluster at ports from a number on. */
export async function startCluster(folder: string, port: number, hasDaemon: boolean): Promise<PodCluster> {
  mkdirSync(folder, { recursive: true });
  const urlOf = (number: number): string => `http://127.0.0.1:${port + number}`;
  const config = join(folder, "router.json");
  const numbers = [0, 1, 2];
  writeFileSync(config, JSON.stringify({ pods: numbers.map((number) => ({ number, url: urlOf(number) })) }));
  const children: ChildProcess[] = [];
  const stateOf = (number: number): string => join(folder, `state-${number}`);
  const start = async (args: readonly string[], number: number, env: Record<string, string> = {}): Promise<void> => {
    const all = [...args, "--port", String(port + number), "--report", "json"];
    const variables = { PATH: process.env["PATH"] ?? "", HOME: folder, ...env };
    const child = spawn(pod, all, { env: variables, stdio: ["ignore", "ignore", "pipe"] });
    children.push(child);
    await waitFor(child, " is listening at ");
  };
  const admin: PodCluster["admin"] = async <T>(number: number, method: string, path: string, body?: unknown) => {
    const { token } = JSON.parse(readFileSync(join(stateOf(number), "admin.json"), "utf8")) as { token: string };
    const headers = { authorization: `Bearer ${token}` };
    const reply = await fetch(`${urlOf(number)}/api/pod/v1${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`${method} ${path} of ${number}: ${reply.status}`);
    return (await reply.json()) as T;
  };
  if (hasDaemon) await start(["daemon", "--config", config, "--state-dir", stateOf(0)], 0);
  const startPod = async (number: number): Promise<void> => {
    const link = hasDaemon ? await admin<{ token: string }>(0, "POST", `/links/${number}`) : undefined;
    const env = link === undefined ? {} : { POD_DAEMON: urlOf(0), POD_DAEMON_TOKEN: link.token };
    await start(["serve", "--pod", String(number), "--state-dir", stateOf(number)], number, env);
  };
  await Promise.all([1, 2].map(startPod));
  await start(["router", "--config", config], 3);
  const pids = children.map(({ pid }) => pid as number);
  return {
    admin,
    routerUrl: urlOf(3),
    podUrls: [urlOf(1), urlOf(2)],
    cpu: () => pids.reduce((sum, pid) => sum + ticksOf(pid) / TICKS, 0),
    memory: () => pids.reduce((sum, pid) => sum + memoryOf(pid), 0),
    requests: async () => {
      const counts = await Promise.all(
        (hasDaemon ? numbers : [1, 2]).map(async (number) => await countOf(urlOf(number))),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(children.map(stop));
    },
  };
}

function ticksOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1")
    .replace(/^.*\) /s, "")
    .split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

function memoryOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]) / 1024;
}

/** Without the questions of this measurement itself. */
async function countOf(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const rows = text
    .split("\n")
    .filter((row) => row.startsWith("pod_http_requests_total{") && !row.includes("/metrics"));
  return rows.reduce((sum, row) => sum + Number(row.slice(row.lastIndexOf(" "))), 0);
}
