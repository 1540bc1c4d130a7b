import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { hasProgram } from "@steps/testkit";
import { expect, test } from "vitest";
import { COMMAND, createWorld } from "./harness.ts";

const USER = 51_872;
const MAX_MS = 30_000;

/** Runs a step as a user who may have a few processes and threads. */
function runLimited(limit: number): { status: number | null; signal: string | null; stderr: string } {
  const world = createWorld();
  chmodSync(world.dir, 0o755);
  for (const path of [world.dir, ...readdirSync(world.dir).map((name) => join(world.dir, name))])
    chownSync(path, USER, USER);
  const id = String(USER);
  const args = [
    "--reuid",
    id,
    "--regid",
    id,
    "--clear-groups",
    "prlimit",
    `--nproc=${limit}`,
    COMMAND,
    "ci",
    "--quiet",
  ];
  const env = { ...world.env, STEPS: "[{name: a, script: exec sleep 0.2}]" };
  return spawnSync("setpriv", args, { cwd: world.work, env, encoding: "utf8", timeout: MAX_MS, killSignal: "SIGKILL" });
}

// The engine itself aborts where it needs a thread and gets none; where it gets on without, nothing may wait for one.
test.skipIf(process.getuid?.() !== 0 || !hasProgram("setpriv") || !hasProgram("prlimit"))(
  "a run ends where the system allows no more processes and threads",
  { timeout: 20 * MAX_MS },
  () => {
    const limits = [7, 8, 9, 10, 11, 12, 13, 14];
    const ended = limits.flatMap((limit) => [runLimited(limit), runLimited(limit)]);
    expect(ended.filter(({ signal }) => signal === "SIGKILL")).toEqual([]);
    expect(runLimited(200)).toMatchObject({ status: 0, stderr: "" });
  },
);
