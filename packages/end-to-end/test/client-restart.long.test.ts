import { randomInt } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isRunning } from "@steps/testkit";
import { expect, test } from "vitest";
import { createUser, startCuttingRelay, type User } from "./client-harness.ts";

function write(user: User, script: string): string {
  const path = join(user.dir, "steps.yml");
  writeFileSync(path, JSON.stringify([{ name: "a", script }]));
  return path;
}

test("a service that is killed and started again tells of the interrupted job, and does not run it again", async () => {
  const user = createUser();
  const first = await user.serve();
  const steps = write(user, "echo run >>runs; echo $$ >pid; echo half; sleep 600");
  const bridge = user.bridge("run", steps, "--work-dir", ".", "--verbose");
  await bridge.until("stdout", "half\n");
  first.child.kill("SIGKILL");
  await bridge.until("stderr", "failed, the next is in");
  await user.serve();
  const { status, stdout, stderr } = await bridge.ended;
  expect(stdout.toString()).toBe("half\n");
  expect(stderr).toContain("The service was restarted");
  expect(stderr).toMatch(/ended: interrupted\n/);
  expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/^runner-bridge: .*interrupted|^runner-bridge: .*service/i);
  expect(status).toBe(1);
  expect(readFileSync(join(user.dir, "runs"), "utf8")).toBe("run\n");
  const pid = Number(readFileSync(join(user.dir, "pid"), "utf8"));
  expect(isRunning(pid)).toBe(false);
});

test("Run whose answer is lost is sent again and runs once", async () => {
  const user = createUser();
  await user.serve();
  const steps = write(user, "echo run >>runs; echo marker-of-the-request");
  let runs = 0;
  const relay = await startCuttingRelay(
    user,
    (from, chunk) => from === "client" && chunk.includes("marker-of-the-request") && runs++ === 0,
  );
  const { status, stdout } = await user.bridge("run", steps, "--work-dir", user.dir, "--socket", relay.path).ended;
  expect({ status, stdout: stdout.toString() }).toEqual({ status: 0, stdout: "marker-of-the-request\n" });
  expect(runs).toBe(2);
  // A bridge on a busy machine may give up a connection that answers too late, and dial again.
  expect(relay.connections()).toBeGreaterThanOrEqual(2);
  expect(readFileSync(join(user.dir, "runs"), "utf8")).toBe("run\n");
});

test("20 MB through the bridge with 20 cuts at random moments, byte for byte, and nothing said of it", async () => {
  const user = createUser();
  await user.serve();
  const lines = 2_640_000;
  const steps = write(user, `seq 1 ${lines}; echo done >&2`);
  let cuts = 0;
  let next = randomInt(1, 900_000);
  const relay = await startCuttingRelay(user, (_, __, connection) => {
    if (cuts >= 20 || connection.bytes < next) return false;
    cuts++;
    next = randomInt(1, 900_000);
    return true;
  });
  const { status, stdout, stderr } = await user.bridge("run", steps, "--socket", relay.path).ended;
  expect({ status, stderr, cuts }).toEqual({ status: 0, stderr: "done\n", cuts: 20 });
  let text = "";
  for (let line = 1; line <= lines; line++) text += `${line}\n`;
  expect(text.length).toBeGreaterThan(20_000_000);
  expect(stdout.length).toBe(text.length);
  expect(stdout.equals(Buffer.from(text))).toBe(true);
});

test("a service that does not come back is given up in time, and the job's id is named", async () => {
  const user = createUser();
  const service = await user.serve();
  const steps = write(user, "echo half; sleep 600");
  const bridge = user.bridge("run", steps, "--id", "a", "--reconnect-for", "1s");
  await bridge.until("stdout", "half\n");
  service.child.kill("SIGKILL");
  const { status, stderr } = await bridge.ended;
  expect(stderr).toMatch(
    /^runner-bridge: The connection to the service is lost \(\d+ attempts in .*The job "a" may still run\n/,
  );
  expect(status).toBe(1);
  // The next service ends what is left of the job.
  await user.serve();
});
