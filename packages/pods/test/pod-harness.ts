import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { connectRunnerApi, type RunnerApi } from "@steps/runner-api/client";
import type { JobPayload } from "@steps/runner-api/job";
import type { RunnerInfo } from "@steps/runner-api/messages";
import type { JobView, NewRunner, PipelineRequest, PipelineView, RunnerView } from "../src/index.ts";
import { openPod } from "../src/pod/pod.ts";
import type { PodOptions } from "../src/pod/pod-options.ts";
import { servePod } from "../src/serve/serve-pod.ts";

/** A pod in this process with its API, and what an owner does with it. */
export interface TestPod {
  readonly url: string;
  readonly stateDir: string;
  readonly adminToken: string;
  readonly api: RunnerApi;
  readonly admin: <T>(
    method: string,
    path: string,
    body?: unknown,
  ) => Promise<{ readonly status: number; readonly body: T }>;
  readonly createRunner: (settings?: NewRunner) => Promise<RunnerView & { readonly token: string }>;
  readonly createPipeline: (
    request: Partial<PipelineRequest>,
  ) => Promise<PipelineView & { readonly jobs: readonly JobView[] }>;
  readonly job: (id: number) => Promise<JobView>;
  readonly stop: () => Promise<void>;
}

/** Starts a pod with short times. */
export async function startPod(options: Partial<PodOptions> = {}): Promise<TestPod> {
  const stateDir = options.stateDir ?? (await emptyState(options.databaseUrl));
  const pod = await servePod({ pollHoldMs: 300, ...options, stateDir }, { port: 0 });
  const api = connectRunnerApi({ url: pod.url, userAgent: "gitlab-runner 19.4.0 (test)" });
  const admin: TestPod["admin"] = async (method, path, body) =>
    await callAdmin(pod.url, pod.adminToken, method, path, body);
  return {
    url: pod.url,
    stateDir,
    adminToken: pod.adminToken,
    api,
    admin,
    createRunner: async (settings = {}) =>
      (await admin<RunnerView & { token: string }>("POST", "/runners", settings)).body,
    createPipeline: async (request) => {
      const { status, body } = await admin<PipelineView & { jobs: JobView[] }>("POST", "/pipelines", {
        project: "group/project",
        stages: ["test"],
        jobs: [{ name: "job", stage: "test", payload: {} }],
        ...request,
      });
      if (status !== 201) throw new Error(JSON.stringify(body));
      return body;
    },
    job: async (id) => (await admin<JobView>("GET", `/jobs/${id}`)).body,
    async stop() {
      api.close();
      await pod.stop();
    },
  };
}

/** Calls the admin API of a pod. */
async function callAdmin<T>(
  url: string,
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly body: T }> {
  const reply = await fetch(`${url}/api/pod/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: body === undefined ? null : JSON.stringify(body),
  });
  const text = await reply.text();
  return { status: reply.status, body: (text === "" ? undefined : JSON.parse(text)) as T };
}

/** What a runner says about itself that can do all that the official one can. */
export function runnerInfo(features: Readonly<Record<string, boolean>> = {}): RunnerInfo {
  return {
    name: "test",
    version: "1.0.0",
    revision: "",
    platform: "linux",
    architecture: "amd64",
    executor: "shell",
    shell: "bash",
    labels: {},
    config: {},
    features: { two_phase_job_commit: true, trace_reset: true, cancel_gracefully: true, cancelable: true, ...features },
  };
}

/** Asks for a job once. */
export async function takeJob(
  { api }: Pick<TestPod, "api">,
  token: string,
  features: Readonly<Record<string, boolean>> = {},
): Promise<JobPayload | undefined> {
  const { payload } = await api.requestJob({ token, system_id: "s_abcdefghijkl", info: runnerInfo(features) });
  return payload;
}

const migrations = join(import.meta.dirname, "../src/database");

/** A state directory for a new pod, with a database unless it has another. */
export async function emptyState(databaseUrl?: string): Promise<string> {
  return databaseUrl === undefined ? await preparedState() : tempDir("steps-pod-");
}

/** A state directory with a database that is ready: making one takes seconds, so that all tests copy the same. */
async function preparedState(): Promise<string> {
  const hash = createHash("sha256");
  for (const name of readdirSync(migrations, { recursive: true, encoding: "utf8" }).toSorted())
    if (name.endsWith(".ts")) hash.update(readFileSync(join(migrations, name)));
  const template = join(tmpdir(), `steps-pod-template-${hash.digest("hex").slice(0, 16)}`);
  if (!existsSync(template)) {
    const fresh = `${template}.${process.pid}`;
    mkdirSync(fresh, { mode: 0o700 });
    await (await openPod({ stateDir: fresh })).close();
    try {
      renameSync(fresh, template);
    } catch {
      rmSync(fresh, { recursive: true, force: true });
    }
  }
  const state = join(tempDir("steps-pod-"), "state");
  cpSync(template, state, { recursive: true });
  return state;
}
