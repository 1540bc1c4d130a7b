import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runnerInfo, sumOfMetric, tempDir } from "@steps/testkit";
import { vi } from "vitest";
import { connectRunnerApi, type RunnerApi } from "@steps/runner-api/client";
import type { JobPayload } from "@steps/runner-api/job";
import type { JobView, NewRunner, PipelineRequest, PipelineView, RunnerView } from "../src/index.ts";
import { openDatabase } from "../src/database/open-database.ts";
import type { PodOptions } from "../src/pod/pod-options.ts";
import { servePod } from "../src/serve/serve-pod.ts";

// The first start of a pod takes many seconds where others work, too.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

export { runnerInfo };

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

/** The settings of a pod, with the port that it listens on if somebody knew it before. */
export type TestPodOptions = Partial<PodOptions> & { readonly port?: number };

/** Starts a pod with short times. */
export async function startPod({ port = 0, ...options }: TestPodOptions = {}): Promise<TestPod> {
  const stateDir = options.stateDir ?? (await emptyState(options.databaseUrl, options.pod));
  const pod = await servePod({ pollHoldMs: 300, ...options, stateDir }, { port });
  const { api, ...rest } = podAt(pod.url, pod.adminToken, stateDir);
  return {
    ...rest,
    api,
    async stop() {
      api.close();
      await pod.stop();
    },
  };
}

/** The calls that a test makes to a pod that listens somewhere. */
export function podAt(url: string, adminToken: string, stateDir: string): Omit<TestPod, "stop"> {
  const api = connectRunnerApi({ url, userAgent: "gitlab-runner 19.4.0 (test)" });
  const admin: TestPod["admin"] = async (method, path, body) => await callAdmin(url, adminToken, method, path, body);
  return {
    url,
    stateDir,
    adminToken,
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
  };
}

/** Calls the admin API of a pod. */
export async function callAdmin<T>(
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

/** Waits until a look gives something that is true; the test's own limit ends it. */
export async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    await sleep(50);
  }
}

/** The value of a metric of the pod, the sum over its labels. */
export async function metric({ url }: Pick<TestPod, "url">, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return sumOfMetric(text, `pod_${name}`);
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
export async function emptyState(databaseUrl?: string, pod = 1): Promise<string> {
  return databaseUrl === undefined ? await preparedState(pod) : tempDir("steps-pod-");
}

const templates = new Map<number, Promise<string>>();

/** A state directory with a database that is ready: making one takes seconds, so that all tests copy the same. */
async function preparedState(pod: number): Promise<string> {
  const template = templates.get(pod) ?? prepareTemplate(pod);
  templates.set(pod, template);
  const state = join(tempDir("steps-pod-"), "state");
  cpSync(await template, state, { recursive: true });
  return state;
}

async function prepareTemplate(pod: number): Promise<string> {
  const hash = createHash("sha256");
  for (const name of readdirSync(migrations, { recursive: true, encoding: "utf8" }).toSorted())
    if (name.endsWith(".ts")) hash.update(readFileSync(join(migrations, name)));
  const folder = join(tmpdir(), `steps-pod-database-${hash.digest("hex").slice(0, 16)}-${pod}`);
  if (existsSync(folder)) return folder;
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { mode: 0o700 });
  // Without keys, so that no two pods of a test have the same.
  await (await openDatabase({ stateDir: fresh, pod })).close();
  try {
    renameSync(fresh, folder);
  } catch {
    // Another worker was faster.
    rmSync(fresh, { recursive: true, force: true });
  }
  return folder;
}
