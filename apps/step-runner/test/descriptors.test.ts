import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { expect, test } from "vitest";
import { COMMAND, createWorld } from "./harness.ts";

/** Runs `ci` with a limit of descriptors, and with one that is open above it. */
function runLimited(limit: number, steps: unknown): { status: number | null; stdout: string; stderr: string } {
  const world = createWorld();
  const script = `exec 250</dev/null; ulimit -n ${limit}; exec "$SR" ci --quiet`;
  const env = { ...world.env, SR: COMMAND, STEPS: JSON.stringify(steps) };
  return spawnSync("bash", ["-c", script], { cwd: world.work, env, encoding: "utf8" });
}

test("a low limit of descriptors does for a step, whatever the runner was given", () => {
  expect(runLimited(64, [{ name: "a", script: "echo hi" }])).toMatchObject({ status: 0, stdout: "hi\n", stderr: "" });
});

test("where descriptors run out with the first process, the limit and what to do are said", () => {
  // How many the runner has open itself depends on its form.
  const limits = [11, 12, 13, 14, 22, 24, 26, 28];
  const ended = limits.map((limit) => ({ limit, ...runLimited(limit, [{ name: "a", script: "echo hi" }]) }));
  const said = ended.filter(({ status, stderr, limit }) => {
    const text = `too many files open, ${limit} at most: raise the limit (ulimit -n), or run fewer steps`;
    return status === 1 && stderr.includes(text);
  });
  expect(said).not.toEqual([]);
});

test("more steps at once than there are descriptors for all run, and lose no output", { timeout: 300_000 }, () => {
  const script = "echo early; sleep 0.1; echo late";
  const parallel = Array.from({ length: 60 }, (_, i) => ({ name: `s${i}`, script }));
  const ended = runLimited(96, [{ name: "p", parallel }]);
  expect(ended).toMatchObject({ status: 0, stderr: "" });
  const lines = ended.stdout.trimEnd().split("\n");
  expect(lines.filter((line) => line === "early")).toHaveLength(60);
  expect(lines.filter((line) => line === "late")).toHaveLength(60);
});

test("steps at once wait for each other where there are five descriptors for each", { timeout: 300_000 }, () => {
  const dir = tempDir("descriptors-");
  execFileSync("mkfifo", [join(dir, "here"), join(dir, "end")]);
  // The first ends when all others are there, and they when it has ended.
  const first = `exec 3<>${dir}/end 4<>${dir}/here; for i in $(seq 59); do read -r line <&4; done`;
  const other = `exec 3<${dir}/end; echo here >${dir}/here; cat <&3`;
  const parallel = Array.from({ length: 60 }, (_, i) => ({ name: `s${i}`, script: i === 0 ? first : other }));
  const ended = runLimited(348, [{ name: "p", parallel, timeout: "240s" }]);
  expect(ended).toMatchObject({ status: 0, stderr: "" });
});
