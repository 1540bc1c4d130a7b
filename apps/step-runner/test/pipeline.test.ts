import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createWorld, processesWith, uniqueSeconds, until, type World } from "./harness.ts";

const list = (dir: string): string[] => (existsSync(dir) ? readdirSync(dir) : []);

function workflow(world: World, jobs: string): string {
  const dir = join(world.work, ".github/workflows");
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "ci.yml"), `on: push\njobs:\n${jobs}`);
  return ".github/workflows/ci.yml";
}

const workspaces = (world: World): string[] => list(join(world.stateDir, "workspaces"));

describe("pipeline", () => {
  test("pipeline that is interrupted ends its jobs, starts no more, and leaves no copies", async () => {
    const world = createWorld();
    const seconds = uniqueSeconds();
    const path = workflow(
      world,
      `  a: {runs-on: any, steps: [{run: "echo up; sleep ${seconds}"}]}\n` +
        `  b: {needs: a, runs-on: any, steps: [{run: echo b}]}\n` +
        `  c: {needs: a, if: always(), runs-on: any, steps: [{run: echo c}]}\n`,
    );
    const running = world.start(["pipeline", path]);
    await running.printed("a | up");
    running.kill("SIGINT");
    const ended = await running.ended;
    expect(ended).toMatchObject({ code: 130, stdout: "a | up\nc | c\n" });
    expect(ended.stderr).toMatch(/b: cancelled/);
    expect(processesWith(seconds)).toEqual([]);
    expect(workspaces(world)).toEqual([]);
  });

  test("pipeline that is told to end has the exit code of the signal", async () => {
    const world = createWorld();
    const path = workflow(world, `  a: {runs-on: any, steps: [{run: "echo up; sleep ${uniqueSeconds()}"}]}\n`);
    const running = world.start(["pipeline", path]);
    await running.printed("a | up");
    running.kill("SIGTERM");
    expect((await running.ended).code).toBe(143);
  });

  test("pipeline that was killed leaves no processes, and the next one removes its copies", async () => {
    const world = createWorld();
    const seconds = uniqueSeconds();
    const path = workflow(world, `  a: {runs-on: any, steps: [{run: "echo up; sleep ${seconds}"}]}\n`);
    const running = world.start(["pipeline", path]);
    await running.printed("a | up");
    running.kill("SIGKILL");
    await running.ended;
    await until(() => processesWith(seconds).length === 0);
    expect(workspaces(world).length).toBeGreaterThan(0);
    workflow(world, "  a: {runs-on: any, steps: [{run: echo again}]}\n");
    expect(await world.run(["pipeline", path])).toMatchObject({ code: 0, stdout: "a | again\n" });
    expect(workspaces(world)).toEqual([]);
  });

  test("pipelines of one project do not disturb each other", async () => {
    const world = createWorld();
    const path = workflow(world, `  a: {runs-on: any, steps: [{run: "test ! -e made; touch made; sleep 0.3"}]}\n`);
    const ended = await Promise.all([1, 2, 3].map(() => world.run(["pipeline", path, "--quiet"])));
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(existsSync(join(world.work, "made"))).toBe(false);
  });
});
