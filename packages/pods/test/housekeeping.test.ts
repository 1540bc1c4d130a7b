import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openPod } from "../src/pod/pod.ts";
import { Sweeper } from "../src/sweep/sweeper.ts";
import { databaseKinds, useDatabase } from "./databases.ts";
import { emptyState, runnerInfo, startPod, takeJob } from "./pod-harness.ts";

function filesIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

describe.each(databaseKinds)("housekeeping of a pod with %s", (kind) => {
  const database = useDatabase(kind);

  test("removes what ended long enough ago with its files, and nothing else", async () => {
    const options = { ...database.options() };
    const stateDir = await emptyState(options.databaseUrl);
    const served = await startPod({ ...options, stateDir });
    const runner = await served.createRunner({ tags: ["mine"], run_untagged: true });
    const job = { name: "job", stage: "test", payload: {}, tags: ["mine"] };
    await served.createPipeline({ jobs: [job] });
    const { id, token } = (await takeJob(served, runner.token)) as { id: number; token: string };
    await served.api.patchTrace(id, { token, offset: 0, bytes: Buffer.from("old\n") });
    const upload = async (bytes: string): Promise<number> => {
      const form = new FormData();
      form.set("file", new Blob([bytes]), "artifacts.zip");
      const url = `${served.url}/api/v4/jobs/${id}/artifacts?artifact_type=archive`;
      return (await fetch(url, { method: "POST", headers: { "job-token": token }, body: form })).status;
    };
    // An artifact that is not kept leaves no file.
    expect([await upload("a"), await upload("a"), await upload("b")]).toEqual([201, 201, 400]);
    const artifacts = join(stateDir, "artifacts");
    expect(filesIn(artifacts)).toHaveLength(1);
    await served.api.updateJob(id, { token, state: "success", info: runnerInfo() });
    const waiting = await served.createPipeline({ jobs: [{ ...job, tags: ["nobody"] }] });
    await served.stop();
    const left = join(artifacts, "incoming", "cut");
    for (const [name, at] of [
      [left, 1],
      [`${left}-now`, Date.now() / 1000],
    ] as const) {
      writeFileSync(name, "half");
      utimesSync(name, at, at);
    }

    const keeping = await openPod({ ...options, stateDir });
    await new Sweeper(keeping).sweep();
    expect(await keeping.database.query("SELECT id FROM jobs")).toHaveLength(2);
    await keeping.close();

    const pod = await openPod({ ...options, stateDir, keepSeconds: 0 });
    const sweeper = new Sweeper(pod);
    await sweeper.sweep();
    expect(await pod.database.query("SELECT id FROM jobs")).toEqual([{ id: waiting.jobs[0]?.id }]);
    expect(await pod.database.query("SELECT id FROM pipelines")).toEqual([{ id: waiting.id }]);
    expect(await pod.database.query("SELECT tags FROM lanes")).toEqual([{ tags: ["nobody"] }]);
    expect(await pod.database.query("SELECT FROM artifacts")).toEqual([]);
    expect(await pod.database.query("SELECT FROM trace_chunks")).toEqual([]);
    expect(filesIn(artifacts)).toEqual(["cut-now"]);
    if (kind === "PGlite") expect(filesIn(join(stateDir, "traces"))).toEqual([]);
    await sweeper.close();
    await pod.close();
  });

  test("ends jobs of runners that fell silent, each in the state that it is counted by", async () => {
    const options = database.options();
    const stateDir = await emptyState(options.databaseUrl);
    const served = await startPod({ ...options, stateDir });
    const runner = await served.createRunner();
    await served.createPipeline({ jobs: ["a", "b"].map((name) => ({ name, stage: "test", payload: {} })) });
    const taken = [await takeJob(served, runner.token), await takeJob(served, runner.token)];
    const [failed = 0, canceled = 0] = taken.map((payload) => payload?.id);
    await served.stop();

    const pod = await openPod({ ...options, stateDir });
    const sweeper = new Sweeper(pod);
    await pod.database.query(
      `UPDATE jobs SET state = CASE WHEN id = $1 THEN 'canceling' ELSE 'running' END, seen_at = now() - interval '1 day'`,
      [canceled],
    );
    const { database: inner } = pod;
    const transaction: typeof inner.transaction = async (work) => {
      await inner.query("UPDATE jobs SET seen_at = now()");
      return await inner.transaction(work);
    };
    const heard = new Sweeper({ ...pod, database: { ...inner, transaction } });
    await heard.sweep();
    await heard.close();
    // Their runners called between the look and the end.
    expect(await inner.query("SELECT FROM jobs WHERE finished_at IS NULL")).toHaveLength(2);
    await inner.query("UPDATE jobs SET seen_at = now() - interval '1 day'");
    await sweeper.sweep();
    expect(await inner.query("SELECT id, state FROM jobs ORDER BY state")).toEqual([
      { id: canceled, state: "canceled" },
      { id: failed, state: "failed" },
    ]);
    const counted = pod.metrics.format().split("\n");
    expect(counted).toContain('pod_jobs_ended_total{state="canceled"} 1');
    expect(counted).toContain('pod_jobs_ended_total{state="failed"} 1');
    await sweeper.close();
    await pod.close();
  });

  test("shows the age of each queue by its tags, and no two with the same labels", async () => {
    const options = { ...database.options() };
    const served = await startPod({ ...options, stateDir: await emptyState(options.databaseUrl) });
    const job = { name: "job", stage: "test", payload: {} };
    for (const tags of [["a,b"], ["a", "b"]]) await served.createPipeline({ jobs: [{ ...job, tags }] });
    const text = await (await fetch(`${served.url}/metrics`)).text();
    const labels = [...text.matchAll(/^pod_queue_jobs(\{.*\}) 1$/gm)].map(([, found]) => found);
    expect(labels.toSorted()).toEqual([String.raw`{tags="a,b"}`, String.raw`{tags="a\\,b"}`]);
    await served.stop();
  });
});
