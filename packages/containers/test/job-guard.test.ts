import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { findContainerCli } from "../src/client/find-container-cli.ts";

const run = promisify(execFile);
const cli = findContainerCli(process.env["PATH"]);
const isThere = cli?.kind === "docker" && existsSync("/bin/busybox");

const id = randomBytes(6).toString("hex");
const image = `steps-guard-${id}:test`;
const network = `steps-guard-${id}`;
const label = `steps.job=guard-${id}`;

async function docker(...args: string[]): Promise<string> {
  return (await run(cli?.program ?? "docker", args)).stdout.trim();
}

test.skipIf(!isThere)("what a killed runner leaves is removed", async () => {
  await run("sh", ["-c", 'tar c -C / bin/busybox | docker import - "$1"', "sh", image], { cwd: tmpdir() });
  onTestFinished(async () => void (await docker("rmi", "--force", image)));
  await docker("network", "create", network);
  const start = ["run", "--detach", `--network=${network}`, `--label=${label}`, image, "/bin/busybox", "sleep", "1000"];
  await docker(...start);
  const folder = mkdtempSync(join(tmpdir(), "steps-guard-"));
  const guard = new URL("../src/job/guard.ts", import.meta.url);
  const script = `import { startGuard } from ${JSON.stringify(guard.href)};
    startGuard(${JSON.stringify(cli)}, ${JSON.stringify({ label, network, folder })});
    console.log("guarded");
    setInterval(() => {}, 1000);`;
  const args = ["--conditions=steps-source", "--input-type=module", "--eval", script];
  const runner = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => runner.stdout.once("data", resolve));
  // Events are told from now on, however late the client is there.
  const since = `--since=${Math.floor(Date.now() / 1000)}`;
  const removed = spawn("docker", ["events", `--filter=network=${network}`, "--filter=event=destroy", since], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = new Promise((resolve) => removed.stdout.once("data", resolve));
  runner.kill("SIGKILL");
  await gone;
  removed.kill();
  expect(await docker("ps", "--all", "--quiet", `--filter=label=${label}`)).toBe("");
  expect(existsSync(folder)).toBe(false);
  expect(await docker("network", "ls", "--quiet", `--filter=name=${network}`)).toBe("");
});
