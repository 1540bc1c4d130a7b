import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createGitRepository, hasProgram, startGitHttpServer } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { createWorld, processesWith, readAll, readTrace, until, type World } from "./harness.ts";

function writeStep(world: World, name: string, text: string): void {
  mkdirSync(join(world.work, name), { recursive: true });
  writeFileSync(join(world.work, name, "step.yml"), text);
}

describe.skipIf(!hasProgram("git"))("a component of a git repository", () => {
  const SELF_EDIT = `spec: {}
---
exec:
  command: [sh, -c, 'cat text; chmod -R u+w .; echo edited >text; rm -f extra; echo new >added; ls', sh]
  work_dir: \${{ step_dir }}
`;

  test("that edits its own files does not reach the next job, nor the next step of another reference", async () => {
    const world = createWorld();
    const root = join(world.dir, "served");
    await createGitRepository(join(root, "c"), { "step.yml": SELF_EDIT, text: "original\n", extra: "x" });
    await using server = await startGitHttpServer(root);
    for (let job = 0; job < 2; job += 1) {
      const ended = await world.ci(`[{name: a, step: 'git+${server.url}/c@main'}]`, ["--quiet"]);
      expect(ended).toMatchObject({ code: 0, stdout: "original\nadded\nstep.yml\ntext\n" });
    }
    expect((await world.run(["cache", "verify"])).code).toBe(0);
    expect(server.counts.fetch).toBe(1);
  });

  test("whose files in the cache were changed is noticed and fetched again", async () => {
    const world = createWorld();
    const root = join(world.dir, "served");
    await createGitRepository(join(root, "c"), { "step.yml": "spec: {}\n---\nexec: {command: [echo, original]}\n" });
    await using server = await startGitHttpServer(root);
    const steps = `[{name: a, step: 'git+${server.url}/c@main'}]`;
    await world.ci(steps);
    const file = readAll(join(world.cacheDir, "trees")).find(({ path }) => path.endsWith("/step.yml"))?.path as string;
    const { mtime, atime } = statSync(file);
    chmodSync(file, 0o644);
    writeFileSync(file, readFileSync(file, "utf8").replace("original", "tampered"));
    utimesSync(file, atime, mtime);
    const ended = await world.ci(steps, ["--quiet"]);
    expect(ended).toMatchObject({ code: 0, stdout: "original\n" });
    expect((await world.run(["cache", "verify"])).code).toBe(0);
  });

  test("is fetched once for two hundred steps in eight processes at once", async () => {
    const world = createWorld();
    const root = join(world.dir, "served");
    const repository = await createGitRepository(join(root, "c"), {
      "step.yml": "spec: {}\n---\nexec: {command: [echo, hello]}\n",
    });
    const commit = await repository.revision();
    await using server = await startGitHttpServer(root, { delayMs: 50 });
    const steps = Array.from({ length: 25 }, (_, index) => `{name: s${index}, step: 'git+${server.url}/c@${commit}'}`);
    const ended = await Promise.all(Array.from({ length: 8 }, () => world.ci(`[${steps.join(", ")}]`, ["--quiet"])));
    for (const one of ended) expect(one).toMatchObject({ code: 0, stdout: "hello\n".repeat(25) });
    expect(server.counts.fetch).toBe(1);
  });

  test("is not half there when the runner is killed while it is fetched", async () => {
    const world = createWorld();
    const root = join(world.dir, "served");
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`files/${index}`, `${index}`.repeat(500)]),
    );
    await createGitRepository(join(root, "c"), {
      "step.yml": "spec: {}\n---\nexec: {command: [ls, '${{ step_dir }}/files']}\n",
      ...files,
    });
    await using server = await startGitHttpServer(root);
    const steps = `[{name: a, step: 'git+${server.url}/c@main'}]`;
    for (const delay of [0, 30, 60, 100]) {
      rmSync(world.cacheDir, { recursive: true, force: true });
      const before = server.requests.length;
      const runner = world.start(["ci"], { env: { STEPS: steps } });
      await until(() => server.requests.length > before);
      await new Promise((fulfil) => setTimeout(fulfil, delay));
      process.kill(runner.pid, "SIGKILL");
      await runner.ended;
      await until(() => processesWith(`${server.url}/c`).length === 0);
      expect((await world.run(["cache", "verify"])).code).toBe(0);
      const ended = await world.ci(steps, ["--quiet"]);
      expect(ended.code, ended.stderr).toBe(0);
      expect(ended.stdout.trim().split("\n").length).toBe(300);
    }
    expect(readdirSync(join(world.cacheDir, "locks")).length).toBeLessThan(20);
  });
});

describe("steps in folders", () => {
  test("a step that names itself ends with an error of its own, soon", async () => {
    const world = createWorld();
    writeStep(world, "again", "spec: {}\n---\nsteps:\n  - name: again\n    step: ./\n");
    const ended = await world.run(["run", "./again", "--output-file", "t.json"]);
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining("nested more than") });
    const trace = await readTrace(join(world.work, "t.json"));
    expect(JSON.stringify(trace)).toContain("RECURSION_TOO_DEEP");
    expect((await world.run(["trace", "show", "t.json"])).code).toBe(0);
  });

  test("exports of a step inside a composite reach the steps after it, and no step before", async () => {
    const world = createWorld();
    writeStep(
      world,
      "export",
      `spec: {}\n---\nexec:\n  command: [sh, -c, 'echo "{\\"name\\":\\"FROM_INSIDE\\",\\"value\\":\\"yes\\"}" >>"$1"', sh, '\${{ export_file }}']\n`,
    );
    writeStep(
      world,
      "group",
      "spec: {}\n---\nsteps:\n  - name: first\n    step: ../export\n  - name: second\n    script: 'echo \"in $FROM_INSIDE\"'\n",
    );
    const steps = `[{name: before, script: 'echo "before $FROM_INSIDE"'}, {name: group, step: ./group}, {name: after, script: 'echo "after $FROM_INSIDE"'}]`;
    const ended = await world.ci(steps, ["--quiet"]);
    expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: "before \nin yes\nafter yes\n" });
  });

  test("the env of an invocation is there for its own inputs (D15), and wins over the job's", async () => {
    const world = createWorld();
    writeStep(
      world,
      "say",
      "spec: {inputs: {text: {type: string}}}\n---\nexec: {command: [echo, '${{ inputs.text }}']}\n",
    );
    const steps = "[{name: a, step: ./say, inputs: {text: 'hello ${{ env.name }}'}, env: {name: world}}]";
    expect(await world.ci(steps, ["--quiet"])).toMatchObject({ code: 0, stdout: "hello world\n" });
    const home = "[{name: a, step: ./say, inputs: {text: '${{ env.HOME }}'}, env: {HOME: /mine}}]";
    expect(await world.ci(home, ["--quiet"])).toMatchObject({ code: 0, stdout: "/mine\n" });
  });

  test("what is made by a step can be the next step", async () => {
    const world = createWorld();
    const made = "spec: {}\\n---\\nexec: {command: [echo, made]}\\n";
    const steps = `[{name: make, script: 'mkdir made; printf "${made}" >made/step.yml'}, {name: use, step: ./made}]`;
    const ended = await world.ci(steps, ["--quiet"]);
    expect(ended, ended.stderr).toMatchObject({ code: 0, stdout: "made\n" });
  });

  test("everything that is wrong with a step file is said, with its place", async () => {
    const world = createWorld();
    writeStep(world, "wrong", "spec: {inputs: {a: {tpye: string}}}\n---\nexec: {comand: [ls]}\n");
    const ended = await world.run(["run", "./wrong"]);
    expect(ended.code).toBe(2);
    expect(ended.stderr).toContain('"tpye"');
    expect(ended.stderr).toContain('"comand"');
    expect(ended.stderr).toMatch(/wrong\/step\.yml:3:/);
  });
});
