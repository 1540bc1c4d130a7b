import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createWorld, processesWith, uniqueSeconds, until, type World } from "./harness.ts";

function ciFile(world: World, text: string): void {
  writeFileSync(join(world.work, ".gitlab-ci.yml"), text);
}

const workspaces = (world: World): string[] => {
  const dir = join(world.stateDir, "workspaces");
  return existsSync(dir) ? readdirSync(dir) : [];
};

describe("pipeline of a .gitlab-ci.yml", () => {
  test("pipeline that is interrupted ends all jobs, runs after_script, prints the table and exits with 130", async () => {
    const world = createWorld();
    const seconds = uniqueSeconds();
    const mark = join(world.work, "mark");
    ciFile(
      world,
      `stages: [one, two]
a: {stage: one, script: ["echo a is up", "sleep ${seconds}"], after_script: 'echo "after $CI_JOB_STATUS" >> ${mark}'}
b: {stage: one, script: ["echo b is up", "sleep ${seconds}"], retry: 2}
later: {stage: one, when: delayed, start_in: 1 week, script: echo later}
c: {stage: two, script: echo c, when: always}
`,
    );
    const running = world.start(["pipeline", "--jobs", "2"]);
    await running.printed("a | a is up");
    await running.printed("b | b is up");
    running.kill("SIGINT");
    const ended = await running.ended;
    expect(ended.code).toBe(130);
    expect(ended.stderr).toMatch(/\na +one +cancelled .*\n/);
    expect(ended.stderr).toMatch(/\nlater +one +cancelled .*\n/);
    expect(ended.stderr).not.toContain("attempt");
    expect(ended.stdout).not.toContain("| c\n");
    expect(readFileSync(mark, "utf8")).toBe("after canceled\n");
    expect(processesWith(seconds)).toEqual([]);
    expect(workspaces(world)).toEqual([]);
  });

  test("pipeline that is killed between and within jobs leaves no processes, and the next one works", async () => {
    const world = createWorld();
    const seconds = uniqueSeconds();
    const text = (last: string): string => `stages: [one, two]
a: {stage: one, script: "echo one"}
child: {stage: one, trigger: {include: child.yml, strategy: depend}}
b: {stage: two, resource_group: g, script: ["echo up", "${last}"]}
`;
    writeFileSync(join(world.work, "child.yml"), `inner: {script: echo inner}\n`);
    ciFile(world, text(`sleep ${seconds}`));
    for (const moment of ["a | one", "child / inner | inner", "b | up"]) {
      const running = world.start(["pipeline", "--jobs", "2"]);
      await running.printed(moment);
      running.kill("SIGKILL");
      await running.ended;
      await until(() => processesWith(seconds).length === 0);
    }
    expect(workspaces(world).length).toBeGreaterThan(0);
    ciFile(world, text("true"));
    const ended = await world.run(["pipeline", "--jobs", "2"]);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain("b | up\n");
    expect(workspaces(world)).toEqual([]);
  });

  test("pipelines of one project run beside each other, and leave it as it is", async () => {
    const world = createWorld();
    ciFile(world, `a: {script: ["test ! -e made", "touch made", "sleep 0.3"]}\nb: {script: "test ! -e made"}\n`);
    const ended = await Promise.all([1, 2, 3].map(() => world.run(["pipeline", "--quiet"])));
    expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(existsSync(join(world.work, "made"))).toBe(false);
  });

  test("pipeline shows every job the project as it was at the start, whatever is edited meanwhile", async () => {
    const world = createWorld();
    const file = join(world.work, "file");
    writeFileSync(file, "before");
    ciFile(
      world,
      `stages: [one, two]
a: {stage: one, script: ["echo up", "until test -e ${file}.edited; do sleep 0.05; done"]}
b: {stage: two, script: cat file}
`,
    );
    const running = world.start(["pipeline"]);
    await running.printed("a | up");
    writeFileSync(file, "after");
    writeFileSync(`${file}.edited`, "");
    expect((await running.ended).stdout).toContain("b | before\n");
  });

  test("pipeline is found upward from a folder of the project", async () => {
    const world = createWorld();
    mkdirSync(join(world.work, "deep/inner"), { recursive: true });
    writeFileSync(join(world.work, "deep/inner/file"), "");
    ciFile(world, "a: {script: ls}\n");
    const ended = await world.run(["pipeline", "--quiet"], { cwd: join(world.work, "deep/inner") });
    expect(ended.stdout).toContain("a | deep\n");
  });
});
