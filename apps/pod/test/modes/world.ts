import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, tempDir, watchProcess, type WatchedProcess } from "@steps/testkit";

/** The programs of a cluster, by what tests call them. */
export type ProgramName = `pod ${1 | 2 | 3}` | "daemon" | "router" | "other router";

/** The number of the daemon in the file of the router. */
export const DAEMON = 0;

const main = join(import.meta.dirname, "../../src/main.ts");

/**
 * Two pods, their daemon, and two routers, each a process with the command, as users start them; and a third pod if there is a PostgreSQL
 * for it.
 */
export class World {
  readonly #folder = tempDir("pod-modes-");
  readonly #ports = new Map<ProgramName, number>();
  readonly #running = new Map<ProgramName, WatchedProcess>();
  readonly #links = new Map<number, string>();

  #databaseUrl: string | undefined;

  /** Starts everything; the URL is that of the third pod's database. */
  async open(databaseUrl?: string): Promise<void> {
    this.#databaseUrl = databaseUrl;
    const served = (["pod 1", "pod 2", "pod 3"] as const).slice(0, databaseUrl === undefined ? 2 : 3);
    for (const name of [...served, "daemon", "router", "other router"] as const)
      this.#ports.set(name, await freePort());
    const pods = (["daemon", ...served] as const).map((name, number) => ({ number, url: this.urlOf(name) }));
    writeFileSync(join(this.#folder, "router.json"), JSON.stringify({ pods }));
    await this.start("daemon");
    for (const name of served) {
      const pod = name.slice(4);
      const args = ["create-link", pod, "--state-dir", this.#stateOf("daemon"), "--report", "json"];
      const ended = await this.#spawn(args).ended;
      this.#links.set(Number(pod), (JSON.parse(ended.stdout) as { token: string }).token);
    }
    await Promise.all(([...served, "router", "other router"] as const).map(async (name) => await this.start(name)));
  }

  async close(): Promise<void> {
    for (const name of this.#running.keys()) await this.kill(name);
  }

  urlOf(name: ProgramName): string {
    return `http://127.0.0.1:${this.#ports.get(name) ?? 0}`;
  }

  /** Starts a program at its port, with the state that it had. */
  async start(name: ProgramName): Promise<void> {
    const port = ["--port", String(this.#ports.get(name))];
    const config = ["--config", join(this.#folder, "router.json")];
    const state = ["--state-dir", this.#stateOf(name), "--poll-hold", "300ms"];
    const started = name.endsWith("router")
      ? this.#spawn(["router", ...config, ...port])
      : name === "daemon"
        ? this.#spawn(["daemon", ...config, ...port, ...state])
        : this.#spawn(
            ["serve", "--pod", name.slice(4), "--lease", "4s", ...port, ...state, ...this.#databaseOf(name)],
            Number(name.slice(4)),
          );
    this.#running.set(name, started);
    await started.printed(" is listening at ");
  }

  /** Ends a program without a warning. */
  async kill(name: ProgramName): Promise<void> {
    const running = this.#running.get(name);
    if (running === undefined) return;
    this.#running.delete(name);
    const ended = once(running.child, "exit");
    running.child.kill("SIGKILL");
    await ended;
  }

  /** Calls the API of the owner of a pod, or of the daemon. */
  async admin<T>(pod: number, method: string, path: string, body?: unknown): Promise<T> {
    const name = nameOf(pod);
    const { token } = JSON.parse(readFileSync(join(this.#stateOf(name), "admin.json"), "utf8")) as { token: string };
    const reply = await fetch(`${this.urlOf(name)}/api/pod/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return (await reply.json()) as T;
  }

  /** The bytes of a trace. */
  async trace(pod: number, id: number): Promise<string> {
    const name = nameOf(pod);
    const { token } = JSON.parse(readFileSync(join(this.#stateOf(name), "admin.json"), "utf8")) as { token: string };
    const headers = { authorization: `Bearer ${token}` };
    return await (await fetch(`${this.urlOf(name)}/api/pod/v1/jobs/${id}/trace`, { headers })).text();
  }

  #databaseOf(name: ProgramName): readonly string[] {
    return name === "pod 3" && this.#databaseUrl !== undefined ? ["--database", this.#databaseUrl] : [];
  }

  #stateOf(name: ProgramName): string {
    return join(this.#folder, name.replace(" ", "-"));
  }

  #spawn(args: readonly string[], linkedPod?: number): WatchedProcess {
    const link = { POD_DAEMON: this.urlOf("daemon"), POD_DAEMON_TOKEN: this.#links.get(linkedPod ?? 0) };
    return watchProcess(
      spawn(process.execPath, ["--conditions=steps-source", "--no-warnings", main, ...args], {
        stdio: ["ignore", "pipe", "pipe"],
        env: { PATH: process.env["PATH"], HOME: this.#folder, ...(linkedPod !== undefined && link) },
      }),
    );
  }
}

function nameOf(pod: number): ProgramName {
  return pod === DAEMON ? "daemon" : `pod ${pod as 1 | 2 | 3}`;
}

/** Asks until there is something; the test's own limit ends it. A server that is away has nothing. */
export async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const seen = await look().catch(() => undefined);
    if (seen !== undefined && seen !== false) return seen;
    await sleep(50);
  }
}
