import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { sumOfMetric } from "@steps/testkit";
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
  /** The work of all of them since they were started, without that of telling it. */
  readonly counts: () => Promise<Counts>;
}

/** Work that programs of a cluster have done. */
export interface Counts {
  /** Requests that pods and daemon have answered, those between them included. */
  readonly requests: number;
  /** Statements of pods and daemon, without the beginnings and ends of transactions. */
  readonly statements: number;
  /** Bytes on all connections, each hop for itself. */
  readonly bytes: number;
}

const pod = join(dirname(command), "pod");
/** A hundredth of a second, in which Linux counts. */
const TICKS = 100;
const counter = join(import.meta.dirname, "pods/count-bytes.ts");

/** Starts a cluster at ports from a number on. */
export async function startCluster(folder: string, port: number, hasDaemon: boolean): Promise<PodCluster> {
  mkdirSync(folder, { recursive: true });
  const urlOf = (number: number): string => `http://127.0.0.1:${port + number}`;
  const config = join(folder, "router.json");
  const numbers = [0, 1, 2];
  writeFileSync(config, JSON.stringify({ pods: numbers.map((number) => ({ number, url: urlOf(number) })) }));
  const children: ChildProcess[] = [];
  const bytesFileOf = (at: number): string => join(folder, `bytes-${at}`);
  const stateOf = (number: number): string => join(folder, `state-${number}`);
  const start = async (args: readonly string[], number: number, env: Record<string, string> = {}): Promise<void> => {
    const all = [...args, "--port", String(port + number), "--log-format", "json"];
    const counting = {
      NODE_OPTIONS: `--disable-warning=ExperimentalWarning --import=${counter}`,
      BENCH_BYTES_FILE: bytesFileOf(children.length),
    };
    const variables = { PATH: process.env["PATH"] ?? "", HOME: folder, ...counting, ...env };
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
    counts: async () => {
      const bytes = await Promise.all(pids.map(async (pid, at) => await bytesOf(pid, bytesFileOf(at))));
      return await countsOf((hasDaemon ? numbers : [1, 2]).map(urlOf), bytes);
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

async function countsOf(urls: readonly string[], bytes: readonly number[]): Promise<Counts> {
  const metrics = await Promise.all(urls.map(async (url) => await (await fetch(`${url}/metrics`)).text()));
  // The questions of this measurement itself do not count.
  const asked = metrics.map((text) => text.replace(/^pod_http_requests_total\{.*\/metrics.*$/gm, ""));
  const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
  return {
    requests: sum(asked.map((text) => sumOfMetric(text, "pod_http_requests_total"))),
    statements: sum(metrics.map((text) => sumOfMetric(text, "pod_database_statements_total"))),
    bytes: sum(bytes),
  };
}

async function bytesOf(pid: number, file: string): Promise<number> {
  rmSync(file, { force: true });
  process.kill(pid, "SIGUSR2");
  while (!existsSync(file)) await sleep(5);
  return Number(readFileSync(file, "utf8"));
}
