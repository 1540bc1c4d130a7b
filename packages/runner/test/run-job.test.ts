import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { connectRunnerApi } from "@steps/runner-api/client";
import { PAYLOAD } from "@steps/runner-api/job";
import { type RunnerServer, startRunnerServer, tempDir } from "@steps/testkit";
import { expect, test } from "vitest";
import { readConfig } from "../src/config/read-config.ts";
import type { Executor } from "../src/executors/executor.ts";
import { type StoredJob, storeJob } from "../src/job/job-store.ts";
import { type JobWork, runJob } from "../src/job/run-job.ts";

const PACE = { intervalMs: 5, keepAliveMs: 10, firstRetryMs: 5, longestRetryMs: 20 };
const NEVER = new AbortController().signal;

interface DoneJob {
  readonly work: JobWork;
  readonly job: StoredJob;
  /** The folders of jobs whose places were removed. */
  readonly removed: readonly string[];
  /** What was logged. */
  readonly told: readonly string[];
}

/** Does job 5 of the server to its end. @param parts of its payload, besides those that every job has */
async function doJob(
  server: RunnerServer,
  { open }: Pick<Executor, "open">,
  parts: Readonly<Record<string, unknown>> = {},
): Promise<DoneJob> {
  const api = connectRunnerApi({
    url: server.url,
    userAgent: "test",
    retries: { attempts: 1, firstDelayMs: 1, longestDelayMs: 1 },
  });
  const steps = [{ name: "script", script: ["true"] }];
  const payload = PAYLOAD.readValue({ id: 5, token: "job", features: {}, steps, ...parts });
  const stateDir = tempDir();
  const job = storeJob(join(stateDir, "jobs"), { runner: "r", payload, slot: 0 });
  const removed: string[] = [];
  const executor: Executor = {
    sharesService: false,
    folders: () => ({ buildsDir: "/b", projectDir: "/b/p", cacheDir: undefined }),
    open,
    remove: ({ folder }) => Promise.resolve(void removed.push(folder)),
  };
  const text = `runners: [{name: n, url: "${server.url}", token: glrt-x, executor: host}]`;
  const [config] = readConfig(text, "runners.yml").runners;
  if (config === undefined) throw new Error("There is no runner");
  const told: string[] = [];
  const work = await runJob(
    {
      config,
      executor,
      place: { stateDir, stepRunner: "/nowhere" },
      api,
      systemId: "s_000000000000",
      pace: PACE,
      log: (_level, message) => void told.push(message),
      cancel: NEVER,
      leave: NEVER,
    },
    job,
  );
  api.close();
  return { work, job, removed, told };
}

test("a job that is cancelled before its runner could confirm it is not begun, and the server is told its end", async () => {
  await using server = await startRunnerServer();
  const served = server.queue({ id: 5, token: "job" });
  served.status = "canceling";
  const opened: string[] = [];
  const { work, job } = await doJob(server, {
    open: ({ folder }) => Promise.reject(new Error(`opened ${opened.push(folder)}`)),
  });
  expect(work).toBe("failed");
  expect(opened).toEqual([]);
  expect(served.end).toMatchObject({ state: "failed" });
  expect(existsSync(job.folder)).toBe(false);
});

test("the server is told the end of a job whose record cannot be written any more, and its place is removed", async () => {
  await using server = await startRunnerServer();
  server.traceInterval = 0;
  const served = server.queue({ id: 5, token: "job" });
  const { work, job, removed, told } = await doJob(server, {
    open({ folder }) {
      rmSync(join(folder, "job.json"));
      mkdirSync(join(folder, "job.json"));
      return Promise.reject(new Error("no place"));
    },
  });
  expect(work).toBe("failed");
  expect(served.end).toMatchObject({ state: "failed", failure_reason: "runner_system_failure" });
  expect(served.trace.toString()).toContain("no place");
  expect(removed).toEqual([job.folder]);
  expect(told).toContain("The end of a job cannot be kept on the disk");
});

test("what the runner itself says of a job is masked: its secrets, and tokens after the prefixes that the server names", async () => {
  await using server = await startRunnerServer();
  server.traceInterval = 0;
  const [masked, token] = ["s3cret-of-variable", "s3cret-of-job"];
  const [password, ofOther] = ["s3cret-of-registry", "s3cret-of-dependency"];
  const served = server.queue({ id: 5, token });
  const open: Executor["open"] = ({ say }) => {
    say(`Pulling ${masked} ${token} ${password} ${ofOther} acme-S0`);
    return Promise.reject(new Error(`no place for ${masked} acme-S0`));
  };
  await doJob(
    server,
    { open },
    {
      token,
      variables: [{ key: "SECRET", value: masked, masked: true }],
      credentials: [{ type: "registry", url: "registry.example.com", username: "user", password }],
      dependencies: [{ id: 4, token: ofOther, name: "other" }],
      features: { token_mask_prefixes: ["acme-"] },
    },
  );
  const trace = served.trace.toString();
  expect(trace).toContain(`Pulling [MASKED] [MASKED] [MASKED] [MASKED] acme-[MASKED]\n`);
  expect(trace).toContain("no place for [MASKED] acme-[MASKED]");
});
