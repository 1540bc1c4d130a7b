import { cpSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createGitRepository, hasProgram } from "@steps/testkit";
import { expect, test } from "vitest";
import { createWorld, readTrace } from "./harness.ts";

const EXAMPLE = resolve(import.meta.dirname, "../../../examples/actions");

test.skipIf(!hasProgram("git"))(
  "examples/actions mixes steps and actions in one job, and a replay is the same",
  async () => {
    const world = createWorld();
    cpSync(EXAMPLE, world.work, { recursive: true });
    const repository = await createGitRepository(world.work, { LICENSE: "MIT\n" });
    const commit = await repository.revision();
    const readme = readFileSync(join(EXAMPLE, "README.md"), "utf8");
    const words = readme.split(/\s+/).filter((word) => word !== "").length;
    const ended = await world.run(["local", "--output-file", "../trace.json"]);
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    expect(ended.stdout.split("\n").slice(1)).toEqual([
      `It has ${Buffer.byteLength(readme)} bytes`,
      `${words} words`,
      `${words} words`,
      `${words} words at ${commit.slice(0, 7)}; the action counted in JavaScript`,
      `After the last step: ${words} words were counted`,
      `After the last step: ${words} words were counted`,
      "",
    ]);
    const { root } = await readTrace(join(world.dir, "trace.json"));
    const shape = root?.children?.map(({ name, phase, children }) => [
      name,
      phase,
      children?.map((child) => child.name),
    ]);
    expect(shape).toEqual([
      ["checkout", undefined, undefined],
      ["measure", undefined, undefined],
      ["count", undefined, undefined],
      ["report", undefined, [expect.stringContaining("Run echo"), "Count once more"]],
      ["tell", undefined, undefined],
      ["Post report", "post", ["Post Count once more"]],
      ["Post count", "post", undefined],
    ]);
    expect(root?.children?.[0]?.det?.outputs).toMatchObject({ commit: { value: commit } });
    const replay = await world.run(["replay", "../trace.json", "--quiet"]);
    expect(replay, replay.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("Replay: The same") });
  },
);

test("examples/actions runs where it lies, below the package of this repository", async () => {
  const world = createWorld();
  const ended = await world.run(["local", join(EXAMPLE, ".gitlab-ci.yml"), "--quiet"]);
  expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("counted in JavaScript") });
});
