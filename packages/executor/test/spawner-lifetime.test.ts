import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { exec, isAlive, run } from "./harness.ts";
import { parentName, spawnersOf } from "./spawners.ts";

const program = join(import.meta.dirname, "spawn-in-child.ts");
const node = [process.execPath, "--conditions=steps-source", program];
const WAIT = { timeout: 20_000, interval: 20 };

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "executor-spawner-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A step that says which process it is and runs until it is ended. */
const longStep = (): string => `echo $$ > ${dir}/draft; mv ${dir}/draft ${dir}/step; exec sleep 60`;

/** The number in a file that a step writes. */
async function pidIn(name: string): Promise<number> {
  await vi.waitUntil(() => existsSync(join(dir, name)), WAIT);
  return Number(readFileSync(join(dir, name), "utf8"));
}

function start() {
  const child = spawn(node[0] as string, [...node.slice(1), longStep()], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  return { child, pid: child.pid as number };
}

test("a spawner goes when the runner is killed", async () => {
  const runner = start();
  const step = await pidIn("step");
  const [spawner = 0] = spawnersOf(runner.pid);
  expect(spawner).toBeGreaterThan(1);
  process.kill(runner.pid, "SIGKILL");
  await vi.waitUntil(() => !isRunning(spawner), WAIT);
  // As without a spawner: whoever recovers the run finds it by its mark.
  expect(readFileSync(`/proc/${step}/environ`, "latin1")).toContain("STEP_RUNNER_COOKIE=test-");
  process.kill(step, "SIGKILL");
});

test("Ctrl-C, which the terminal sends to the spawner too, ends a run as without", async () => {
  const runner = start();
  const step = await pidIn("step");
  const [spawner = 0] = spawnersOf(runner.pid);
  expect(groupOf(spawner)).toBe(runner.pid);
  process.kill(spawner, "SIGINT");
  expect(isAlive(step)).toBe(true);
  process.kill(step, "SIGKILL");
  let output = "";
  runner.child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  await once(runner.child, "close");
  expect(output).toBe("failure\n");
  expect(isAlive(spawner)).toBe(false);
});

test("a spawner of a run inside a step is neither found by the outer run nor left by it", async () => {
  const marks = "tr '\\0' '\\n' < /proc/$PPID/environ | grep STEP_RUNNER";
  const left = `echo $PPID > ${dir}/spawner; setsid sh -c 'echo $$ > ${dir}/left; exec sleep 60' > /dev/null 2>&1 &
    while ! [ -s ${dir}/left ]; do :; done`;
  const ran = await run(exec([...node, `${parentName}; ${marks}; ${left}`]));
  expect(ran.output).toBe("steps-spawner\nsuccess\n");
  expect(isAlive(await pidIn("spawner"))).toBe(false);
  expect(isRunning(await pidIn("left"))).toBe(false);
});

test("a spawner of a run inside a step goes when that run is killed", async () => {
  const inner = [...node, `echo $PPID > ${dir}/spawner; kill -9 $(sed -n 's/^PPid:.//p' /proc/$PPID/status)`];
  const ran = await run(exec(["sh", "-c", '"$@"; echo ended with $?', "sh", ...inner]));
  expect(ran.output).toContain("ended with 137\n");
  expect(isRunning(await pidIn("spawner"))).toBe(false);
});

test("a process of a spawner gets no descriptor that the runner was given", () => {
  const close = 'for fd in $(ls /proc/$$/fd); do [ "$fd" -le 2 ] || eval "exec $fd>&-"; done';
  const script = `${close}; exec "$@" 7</etc/hostname 20</etc/passwd`;
  const args = ["-c", script, "bash", ...node, parentName, "ls -l /proc/self/fd"];
  const { stdout } = spawnSync("bash", args, { encoding: "utf8" });
  expect(stdout).toMatch(/^steps-spawner\n/);
  expect(stdout).not.toMatch(/passwd|hostname|socket/);
  expect(stdout).toMatch(/ 20 -> \/dev\/null\n/);
});

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
  } catch {
    return false;
  }
}

function groupOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]);
}
