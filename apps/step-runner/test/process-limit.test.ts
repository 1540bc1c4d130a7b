import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { hasProgram } from "@steps/testkit";
import { expect, test } from "vitest";
import { COMMAND, createWorld } from "./harness.ts";

const MAX_MS = 30_000;

// The system counts all processes of a user. A run that was aborted leaves some for a moment, and with those of the run before, Node
// itself waits for ever for the first of its own threads.
let lastUser = 51_872;

/** Runs a step as a user who may have a few processes and threads, and has none yet. */
function runLimited(limit: number): { status: number | null; signal: string | null; stderr: string } {
  const world = createWorld();
  const user = (lastUser += 1);
  chmodSync(world.dir, 0o755);
  for (const path of [world.dir, ...readdirSync(world.dir).map((name) => join(world.dir, name))])
    chownSync(path, user, user);
  const id = String(user);
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
