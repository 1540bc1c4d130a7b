import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createWorld, type World } from "./harness.ts";

/** A text in Latin-1, with an umlaut that is no UTF-8. */
function latin1(world: World, path: string, text: string): void {
  const file = join(world.work, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, Buffer.from(text, "latin1"));
}

const ACTION = "name: a\ndescription: \xe4\nruns: {using: composite, steps: []}\n";

describe("a file that is not UTF-8 is refused with its name, the line and the byte", () => {
  test.each<[string, Record<string, string>, string[], string]>([
    [
      "a step file",
      { "a/step.yml": "spec: {}\n---\nexec: {command: [echo, \xe4]}\n" },
      ["run", "./a"],
      "a/step.yml:3:24.*byte 36",
    ],
    [
      "a step file in Latin-1",
      { "a/step.yml": "# \xe4\nspec: {}\n---\n{}\n" },
      ["compile", "a/step.yml"],
      "a/step.yml:1:3.*byte 2 ",
    ],
    ["one of many", { "a/step.yml": "# \xe4\n" }, ["validate", "."], "a/step.yml:1:3.*byte 2 "],
    [
      "an action",
      { "a/action.yml": ACTION },
      ["run", "--json", '[{"name":"a","action":"./a"}]'],
      "action.yml:2:14.*byte 21",
    ],
    ["an action that is checked", { "a/action.yml": ACTION }, ["validate", "."], "a/action.yml:2:14.*byte 21"],
    ["a CI file", { ".gitlab-ci.yml": "test:\n  script: echo \xe4\n" }, ["local"], ".gitlab-ci.yml:2:16.*byte 21"],
    [
      "a workflow",
      { ".github/workflows/w.yml": "on: push\njobs: {a: {runs-on: x, steps: [{run: echo \xe4}]}}\n" },
      ["local", ".github/workflows/w.yml"],
      "w.yml:2:43.*byte 51",
    ],
    ["a message", { "m.txtpb": 'type: "\xe4"' }, ["run", "--text-proto-step-file", "m.txtpb"], "m.txtpb:1:8.*byte 7"],
    ["a lock", { "steps.lock": "\xe4" }, ["run", "--locked", "--json", "[]"], "steps.lock:1: .*byte 0"],
    [
      "an event",
      { "e.json": '{\n"a": "\xe4"}' },
      ["run", "--event-file", "e.json", "--json", "[]"],
      "e.json:2: .*byte 8",
    ],
    ["a trace", { "t.json": '{"\xe4"' }, ["replay", "t.json"], "t.json:1: .*byte 2"],
    ["a secret", { s: "\xe4" }, ["run", "--secret", "s=file:s", "--json", "[]"], "s:1: .*byte 0"],
  ])("%s", async (_, files, args, expected) => {
    const world = createWorld();
    for (const [path, text] of Object.entries(files)) latin1(world, path, text);
    const { code, stderr } = await world.run(args);
    expect(stderr).toMatch(new RegExp(expected));
    expect(stderr).toContain("not UTF-8");
    expect(code).toBe(2);
  });

  test("what a step wrote", async () => {
    const world = createWorld();
    latin1(
      world,
      "a/step.yml",
      "spec: {outputs: {o: {type: string}}}\n---\nexec: {command: [sh, write.sh, '${{ output_file }}']}\n",
    );
    writeFileSync(join(world.work, "write.sh"), "printf 'o=1\\no=a\\344\\n' >> $1");
    const { code, stderr } = await world.run(["run", "./a"]);
    expect(stderr).toContain("line 2: the line is not UTF-8: its byte 3 begins no character");
    expect(code).toBe(1);
  });

  test("what an action wrote", async () => {
    const world = createWorld();
    const steps = [{ name: "a", action: "./a" }];
    const run = "printf 'A=\\344\\n' >> $GITHUB_ENV";
    latin1(
      world,
      "a/action.yml",
      `name: a\nruns: {using: composite, steps: [{shell: bash, run: "${run.replaceAll("\\", "\\\\")}"}]}\n`,
    );
    const { code, stderr, stdout } = await world.run(["run", "--json", JSON.stringify(steps)]);
    expect(`${stdout}${stderr}`).toMatch(
      /file command "env": the file:1: The text is not UTF-8: byte 2 begins no character/,
    );
    expect(code).toBe(1);
  });
});
