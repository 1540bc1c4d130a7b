import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createWorld, processesWith, type Running, uniqueSeconds, until, type World } from "./harness.ts";

/** Children in the step's group, in sessions of their own, and one without the mark of the run. */
const script = (seconds: string): string =>
  `echo began; sleep ${seconds} & setsid sleep ${seconds} & (setsid sh -c "trap '' TERM; sleep ${seconds}; true" &); ` +
  `env -i sleep ${seconds} & echo up; sleep ${seconds}`;

const list = (seconds: string): string => JSON.stringify([{ name: "a", script: script(seconds) }]);

/** Kills the runner alone, and waits until nothing of its job is left, nor the reaper. Nobody recovers. */
async function killAndWait(world: World, runner: Running, seconds: string): Promise<void> {
  process.kill(runner.pid, "SIGKILL");
  await until(() => [...processesWith(seconds), ...processesWith(world.stateDir)].length === 0);
}

test.each([5, 40, 80, 110, 140, 170, 200, 240, 300, 400])(
  "steps of `ci` end with a runner that is killed after %i ms",
  async (delay) => {
    const world = createWorld();
    const seconds = uniqueSeconds();
    const runner = world.start(["ci", "--quiet"], { env: { STEPS: list(seconds) } });
    await new Promise((fulfil) => setTimeout(fulfil, delay));
    await killAndWait(world, runner, seconds);
  },
);

test("all descendants end, what ignores TERM and what has no mark too, and the private files of the steps go", async () => {
  const world = createWorld();
  const seconds = uniqueSeconds();
  const runner = world.start(["ci", "--quiet"], { env: { STEPS: list(seconds) } });
  await until(() => processesWith(`sleep ${seconds}`).length >= 6);
  const [run = ""] = world.runs();
  const journal = readFileSync(join(run, "trace.jsonl"), "utf8");
  await killAndWait(world, runner, seconds);
  expect(readdirSync(run)).not.toContain("tmp");
  // The reaper reports nothing; whoever recovers the journal does.
  expect(readFileSync(join(run, "trace.jsonl"), "utf8")).toContain(journal);
  const recovered = await world.run(["trace", "recover", "--output-file", "trace.json"]);
  expect(recovered.code).toBe(0);
  expect(readFileSync(join(world.work, "trace.json"), "utf8")).toContain("interrupted");
});

const entries: Readonly<Record<string, (world: World, seconds: string) => readonly string[]>> = {
  run: (_world, seconds) => ["run", "--json", list(seconds)],
  local: (world, seconds) => {
    writeFileSync(join(world.work, ".gitlab-ci.yml"), JSON.stringify({ job: { script: [script(seconds)] } }));
    return ["local"];
  },
  workflow: (world, seconds) => {
    const job = { "runs-on": "ubuntu-latest", steps: [{ run: script(seconds) }] };
    writeFileSync(join(world.work, "w.yml"), JSON.stringify({ name: "w", on: "push", jobs: { job } }));
    return ["local", "w.yml", "--format", "github"];
  },
};

test.each(Object.entries(entries))("so do those of `%s`", async (_name, args) => {
  const world = createWorld();
  const seconds = uniqueSeconds();
  const runner = world.start(args(world, seconds));
  await until(() => processesWith(`sleep ${seconds}`).length >= 6 || runner.child.exitCode !== null);
  expect(runner.child.exitCode).toBeNull();
  await killAndWait(world, runner, seconds);
});

test("so do those of a replay", async () => {
  const world = createWorld();
  const seconds = uniqueSeconds();
  const steps = JSON.stringify([{ name: "a", script: `[ -e again ] || exit 0; ${script(seconds)}` }]);
  expect((await world.ci(steps, ["--output-file", "trace.json"])).code).toBe(0);
  writeFileSync(join(world.work, "again"), "");
  const runner = world.start(["replay", "trace.json", "--yes"]);
  await until(() => processesWith(`sleep ${seconds}`).length >= 6 || runner.child.exitCode !== null);
  expect(runner.child.exitCode).toBeNull();
  await killAndWait(world, runner, seconds);
});

test("a reaper goes with a runner that ends by itself", async () => {
  const world = createWorld();
  const ended = await world.ci('[{name: a, script: "echo hi"}]', ["--quiet"]);
  expect(ended.code).toBe(0);
  await until(() => processesWith(world.stateDir).length === 0);
});
