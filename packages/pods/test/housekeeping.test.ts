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
    // What is not kept leaves no file.
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
});
