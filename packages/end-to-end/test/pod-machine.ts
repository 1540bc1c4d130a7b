import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { compileCache, tempDir, type WatchedProcess, watchProcess } from "@steps/testkit";
import { expect, onTestFinished, vi } from "vitest";
import { killAll, processesOf } from "../src/kit/processes.ts";

vi.setConfig({ testTimeout: 240_000 });

const BIN = resolve(import.meta.dirname, "../../../node_modules/.bin");
const POLL_MS = 100;

/** A pod that listens. */
export interface Pod {
  readonly url: string;
  readonly child: ChildProcess;
}

/** A job as the pod shows it. */
export interface Job {
  readonly id: number;
  readonly name: string;
  readonly state: string;
}

/** A machine with a pod and a runner, each a process of the built commands. */
export class PodMachine {
  readonly dir: string = tempDir("steps-pod-");
  readonly #env: Record<string, string>;
  #address = { url: "", token: "" };

  constructor() {
    for (const name of ["home", "tmp"]) mkdirSync(join(this.dir, name));
    onTestFinished(() => killAll(processesOf(this.dir)));
    this.#env = {
      PATH: process.env["PATH"] ?? "/usr/bin:/bin",
      HOME: join(this.dir, "home"),
      TMPDIR: join(this.dir, "tmp"),
      XDG_STATE_HOME: join(this.dir, "state"),
      XDG_CONFIG_HOME: join(this.dir, "config"),
      XDG_CACHE_HOME: join(this.dir, "cache"),
      NO_COLOR: "1",
      ...compileCache(),
    };
  }

  /** Starts one of the commands. */
  start(program: string, ...args: readonly string[]): WatchedProcess {
    return watchProcess(spawn(join(BIN, program), args, { env: this.#env, cwd: this.dir }));
  }

  /** Runs one of the commands to its end; gives its output. */
  async run(program: string, ...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.start(program, ...args).ended;
    if (code !== 0) throw new Error(`${program} ${args[0]}: ${stderr}`);
    return stdout;
  }

  /** Starts the pod, the next time where it was. */
  async serve(port: number): Promise<Pod> {
    const { child } = this.start("pod", "serve", "--port", String(port));
    const state = join(this.dir, "state/pod");
    for (;;) {
      if (child.exitCode !== null) throw new Error("The pod has ended");
      const file = readdirSafe(state).find((name) => name.endsWith(".json"));
      if (file !== undefined) {
        this.#address = JSON.parse(readFileSync(join(state, file), "utf8")) as { url: string; token: string };
        const isThere = await fetch(`${this.#address.url}/healthz`).then(
          () => true,
          () => false,
        );
        if (isThere) return { url: this.#address.url, child };
      }
      await delay(POLL_MS);
    }
  }

  /** Asks the pod as its owner. */
  async ask<T>(method: string, path: string, body: object): Promise<T> {
    const reply = await fetch(`${this.#address.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.#address.token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return (await reply.json()) as T;
  }

  /** Creates a pipeline; gives its jobs. */
  async pipeline(stages: readonly string[], jobs: readonly object[]): Promise<readonly Job[]> {
    const request = { project: "group/project", stages, jobs };
    const answer = await this.ask<{ readonly jobs: readonly Job[] }>("POST", "/api/pod/v1/pipelines", request);
    expect(answer).toHaveProperty("jobs");
    return answer.jobs;
  }

  /** Waits for a job. */
  async until(id: number, isSo: (job: Job) => boolean): Promise<Job> {
    for (;;) {
      const job = await this.#get<Job>(`/jobs/${id}`);
      if (job !== undefined && isSo(job)) return job;
      await delay(POLL_MS);
    }
  }

  /** The trace of a job. */
  trace(id: number): Promise<string> {
    return this.run("pod", "trace", String(id));
  }

  async #get<T>(path: string): Promise<T | undefined> {
    try {
      const headers = { authorization: `Bearer ${this.#address.token}` };
      const reply = await fetch(`${this.#address.url}/api/pod/v1${path}`, { headers });
      return reply.ok ? ((await reply.json()) as T) : undefined;
    } catch {
      // The pod is being killed or started.
      return undefined;
    }
  }
}

function readdirSafe(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** Kills a process, and waits until it is gone. */
export async function kill({ child }: { readonly child: ChildProcess }): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
