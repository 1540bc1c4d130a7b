import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, test } from "vitest";
import {
  busyboxImage,
  createRunner,
  numbersIn,
  numbersTo,
  scriptJob,
  countingScript,
  killWhileItCounts,
} from "./runner-harness.ts";

const image = busyboxImage(`steps-runner-test-${randomBytes(4).toString("hex")}`);
afterAll(() => {
  if (image !== undefined) spawnSync("docker", ["image", "rm", "-f", image], { stdio: "ignore" });
});

function docker(...args: readonly string[]): string {
  return spawnSync("docker", args, { encoding: "utf8" }).stdout.trim();
}

describe.skipIf(image === undefined)("the docker executor", () => {
  test("runs a job in a container, and finds it again after kills: each byte once, and nothing is left", async () => {
    const world = await createRunner("--executor", "docker");
    const job = world.server.queue(
      scriptJob(1, countingScript(20), { image: { name: "$IMAGE" }, variables: variables() }),
    );
    await killWhileItCounts(world, job, [20, 200]);
    const runner = world.start();
    await world.server.until(() => job.end);
    expect(job.end).toMatchObject({ state: "success" });
    const trace = job.trace.toString();
    expect(trace).toContain("\n/builds/group/project\n");
    expect(numbersIn(job.trace)).toEqual(numbersTo(600));
    expect(trace.match(/^run$/gmu)).toHaveLength(1);
    runner.child.kill("SIGTERM");
    await runner.ended;
    expect(docker("ps", "--all", "--quiet", "--filter=name=steps-runner-", `--filter=ancestor=${image}`)).toBe("");
    expect(world.kept()).toEqual([]);
  });

  test("a container that is killed ends its job as a system failure; an image that is not there is said to be so", async () => {
    const world = await createRunner("--executor", "docker");
    const job = world.server.queue(
      scriptJob(1, ["echo n1", "sleep 60"], { image: { name: "$IMAGE" }, variables: variables() }),
    );
    const runner = world.start();
    await world.server.until(() => numbersIn(job.trace).length > 0);
    const [id = ""] = docker("ps", "--quiet", `--filter=ancestor=${image}`).split("\n");
    docker("kill", id);
    await world.server.until(() => job.end);
    expect(job.end).toMatchObject({ state: "failed", failure_reason: "runner_system_failure" });
    expect(job.trace.toString()).toContain("the container of the job has ended with exit status 137");
    // No connection was tried again: the container does not come back.
    expect(job.trace.toString()).not.toMatch(/attempts in/);
    const removed = world.server.queue(
      scriptJob(3, ["echo n1", "sleep 60"], { image: { name: "$IMAGE" }, variables: variables() }),
    );
    await world.server.until(() => numbersIn(removed.trace).length > 0);
    docker("rm", "--force", ...docker("ps", "--quiet", `--filter=ancestor=${image}`).split("\n").filter(Boolean));
    await world.server.until(() => removed.end);
    expect(removed.trace.toString()).toContain("the container of the job is gone");
    const other = world.server.queue(
      scriptJob(2, ["echo n1"], {
        image: { name: "127.0.0.1:9/none:1" },
        features: { failure_reasons: ["image_pull_failure"] },
      }),
    );
    await world.server.until(() => other.end);
    expect(other.end).toMatchObject({ state: "failed", failure_reason: "image_pull_failure" });
    runner.child.kill("SIGTERM");
    await runner.ended;
  });
});

function variables(): readonly object[] {
  return [
    { key: "GIT_STRATEGY", value: "none" },
    { key: "IMAGE", value: image },
  ];
}
