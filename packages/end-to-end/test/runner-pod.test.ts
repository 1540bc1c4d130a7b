import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { compileCache, tempDir, type WatchedProcess, watchProcess } from "@steps/testkit";
import { expect, onTestFinished, test, vi } from "vitest";
import { killAll, processesOf } from "../src/kit/processes.ts";
import { numbersIn, numbersTo } from "./runner-harness.ts";

vi.setConfig({ testTimeout: 240_000 });

const BIN = resolve(import.meta.dirname, "../../../node_modules/.bin");
const POLL_MS = 100;

interface Pod {
  readonly url: string;
  readonly child: ChildProcess;
}

interface Job {
  readonly id: number;
  readonly name: string;
  readonly state: string;
}

/** A machine with a pod and a runner, each a process of the built commands. */
class Machine {
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

  start(program: string, ...args: readonly string[]): WatchedProcess {
    return watchProcess(spawn(join(BIN, program), args, { env: this.#env, cwd: this.dir }));
  }

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

  /** Creates a pipeline; gives its jobs. */
  async pipeline(stages: readonly string[], jobs: readonly object[]): Promise<readonly Job[]> {
    const reply = await fetch(`${this.#address.url}/api/pod/v1/pipelines`, {
      method: "POST",
      headers: { authorization: `Bearer ${this.#address.token}`, "content-type": "application/json" },
      body: JSON.stringify({ project: "group/project", stages, jobs }),
    });
    const answer = (await reply.json()) as { readonly jobs: readonly Job[] };
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

async function kill({ child }: { readonly child: ChildProcess }): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

function scriptPayload(script: readonly string[], more: object = {}): object {
  return {
    variables: [{ key: "GIT_STRATEGY", value: "none", public: true, masked: false, file: false, raw: false }],
    steps: [{ name: "script", script, timeout: 3600, when: "on_success", allow_failure: false }],
    ...more,
  };
}

const ENDED = ({ state }: Job): boolean => ["success", "failed", "canceled"].includes(state);

test("a pod and its runner, both killed in the middle of a pipeline: artifacts are passed on, traces are exact, nothing runs twice", async () => {
  const machine = new Machine();
  const port = 20_000 + (process.pid % 20_000);
  const pod = await machine.serve(port);
  const { token } = JSON.parse(await machine.run("pod", "create-runner", "--run-untagged", "--report", "json")) as {
    token: string;
  };
  await machine.run("runner-bridge", "register", "--url", pod.url, "--token", token);
  const count = "i=0; while [ $i -lt 600 ]; do i=$((i+1)); echo n$i; [ $((i % 20)) = 0 ] && sleep 0.1; done";
  const artifacts = [{ name: "a", paths: ["made"], artifact_type: "archive", artifact_format: "zip" }];
  const [build, use] = await machine.pipeline(
    ["build", "test"],
    [
      {
        name: "build",
        stage: "build",
        payload: scriptPayload(["echo run >>runs", count, "cat runs >made"], { artifacts }),
      },
      { name: "use", stage: "test", payload: scriptPayload(["rm -f runs", "cat made", "exit 4"]) },
    ],
  );
  const [buildId, useId] = [build?.id ?? 0, use?.id ?? 0];
  const first = machine.start("runner-bridge", "start");
  await machine.until(buildId, ({ state }) => state === "running");
  await delay(500);
  await kill(first);
  await kill(pod);
  const second = machine.start("runner-bridge", "start");
  await delay(500);
  await machine.serve(port);
  expect(await machine.until(buildId, ENDED)).toMatchObject({ state: "success" });
  expect(numbersIn(Buffer.from(await machine.trace(buildId)))).toEqual(numbersTo(600));
  expect(await machine.until(useId, ENDED)).toMatchObject({ state: "failed" });
  const trace = await machine.trace(useId);
  expect(trace.match(/^run$/gmu)).toHaveLength(1);
  expect(trace).toContain("Job failed: exit code 4");
  second.child.kill("SIGTERM");
  expect(await second.ended).toMatchObject({ code: 0 });
});
