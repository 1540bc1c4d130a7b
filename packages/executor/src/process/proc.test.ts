import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ownProcesses, wasLastStarted } from "./proc.ts";

describe.skipIf(process.platform !== "linux")("wasLastStarted()", () => {
  const started = (): { lastPid: number; atMs: number } => ({
    lastPid: spawnSync("true").pid,
    atMs: Date.now(),
  });

  test("is false once another process was started", () => {
    const first = started();
    started();
    expect(wasLastStarted(first)).toBe(false);
  });

  test("is true of the youngest process of the system", () => {
    // Others start processes, too, but not always in the same moment.
    let isYoungest = false;
    for (let tries = 0; tries < 1000 && !isYoungest; tries++) isYoungest = wasLastStarted(started());
    expect(isYoungest).toBe(true);
  });
});

const canMount = spawnSync("unshare", ["-Urm", "true"]).status === 0;

test.skipIf(!canMount)("a /proc/loadavg that another program makes says nothing", () => {
  const dir = mkdtempSync(join(tmpdir(), "executor-proc-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, "loadavg");
  writeFileSync(file, "0.00 0.00 0.00 1/100 4711\n");
  const url = new URL("proc.ts", import.meta.url).href;
  const text = `import { wasLastStarted } from ${JSON.stringify(url)};
    console.log(wasLastStarted({ lastPid: 4711, atMs: Date.now() }));`;
  const node = [process.execPath, "--conditions=steps-source", "--input-type=module", "-e", text];
  const script = `mount --bind "$1" /proc/loadavg && shift && exec "$@"`;
  const { stdout, stderr } = spawnSync("unshare", ["-Urm", "sh", "-c", script, "sh", file, ...node], {
    encoding: "utf8",
  });
  expect({ stdout, stderr }).toEqual({ stdout: "false\n", stderr: "" });
});

test.skipIf(process.platform !== "linux")(
  "a process is found whatever its number when numbers may have begun anew since the moment",
  () => {
    const child = spawn("/bin/sleep", ["600"], { stdio: "ignore" });
    onTestFinished(() => void child.kill("SIGKILL"));
    const lastPid = child.pid as number;
    expect(ownProcesses({ lastPid, atMs: Date.now() })).not.toContain(lastPid);
    expect(ownProcesses({ lastPid, atMs: Date.now() - 10_000 })).toContain(lastPid);
  },
);
