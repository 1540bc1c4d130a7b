import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { hasProgram, tempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { program } from "../src/program.ts";
import { createWorld } from "./harness.ts";

const commands = await Promise.all(Object.values(program.commands).map((load) => load()));
const shown = commands.filter(({ isHidden }) => isHidden !== true);

describe("man", () => {
  test("--output-dir writes a page for the program and one for each command that is shown", async () => {
    const dir = join(tempDir("man-"), "man1");
    const { code } = await createWorld().run(["man", "--output-dir", dir]);
    expect(code).toBe(0);
    const names = shown.map(({ name }) => `step-runner-${name.replaceAll(" ", "-")}.1`);
    expect(readdirSync(dir).toSorted()).toEqual(["step-runner.1", ...names].toSorted());
    expect(existsSync(join(dir, "step-runner-reap.1"))).toBe(false);
  });

  test.skipIf(!hasProgram("mandoc"))(
    "writes pages that a linter has nothing to say of but their missing date",
    async () => {
      const dir = tempDir("man-");
      await createWorld().run(["man", "--output-dir", dir]);
      const pages = readdirSync(dir).map((name) => join(dir, name));
      const { stdout } = spawnSync("mandoc", ["-T", "lint", "-W", "warning", ...pages], { encoding: "utf8" });
      expect(stdout.split("\n").filter((row) => row !== "" && !row.includes("missing date"))).toEqual([]);
    },
  );

  test.skipIf(!hasProgram("mandoc"))(
    "shows every flag of a command as it is typed, and texts as they stand",
    async () => {
      const { stdout: page } = await createWorld().run(["man", "run"]);
      const { stdout } = spawnSync("mandoc", ["-T", "utf8", "-O", "width=400"], { encoding: "utf8", input: page });
      // Bold letters are typed twice.
      const text = stdout.replaceAll(/.\u0008/g, "");
      const run = shown.find(({ name }) => name === "run");
      for (const name of Object.keys(run?.flags ?? {}))
        expect(text).toMatch(new RegExp(`^ +(?:-[a-z], )?--${name}(?: |$)`, "m"));
      for (const [example] of run?.examples ?? []) expect(text).toContain(example);
      expect(text).toContain("-q, --quiet");
    },
  );

  test("refuses what is no command with the nearest", async () => {
    const { code, stderr } = await createWorld().run(["man", "validte"]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'step-runner: There is no command "validte"\n  hint: Did you mean step-runner man validate?\n',
    });
  });
});
