import { expect, test } from "vitest";
import { spawnSync } from "node:child_process";
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

test("where descriptors run out, the limit and what to do are said", () => {
  const parallel = Array.from({ length: 60 }, (_, i) => ({ name: `s${i}`, script: "sleep 3" }));
  const ended = runLimited(80, [{ name: "p", parallel }]);
  expect(ended.status).not.toBe(0);
  expect(ended.stderr).toContain("too many files open, 80 at most: raise the limit (ulimit -n), or run fewer steps");
});

test("a step that could be started loses no output where descriptors run out beside it", () => {
  const script = "echo early; sleep 0.3; echo late";
  const parallel = Array.from({ length: 20 }, (_, i) => ({ name: `s${i}`, script }));
  const ended = runLimited(64, [{ name: "p", parallel }]);
  expect(ended.status).toBe(1);
  const lines = ended.stdout.split("\n");
  expect(lines).toContain("early");
  expect(lines.filter((line) => line === "late")).toHaveLength(lines.filter((line) => line === "early").length);
  expect(ended.stderr).toMatch(/^step-runner: step "p": step "s\d+": [^\n]*raise the limit \(ulimit -n\)[^\n]*\n$/);
});

test("a hundred steps at once need at most four descriptors each", () => {
  const parallel = Array.from({ length: 100 }, (_, i) => ({ name: `s${i}`, script: "sleep 2" }));
  expect(runLimited(464, [{ name: "p", parallel }])).toMatchObject({ status: 0, stderr: "" });
});
