import { execFileSync, spawn, spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { followJob, runAndFollow } from "@steps/client";
import { dialDocker } from "@steps/dial";
import { command, interleaveAll, type Row, shareOf, time } from "../measure.ts";

const BYTES = 64 * 1024 * 1024;
const ROUNDS = 15;
const IMAGE = "steps-bench";

/** A log through the exec of a container, against `docker exec cat`. Nothing where there is no Docker. */
export async function docker(scratch: string): Promise<Row[]> {
  if (spawnSync("docker", ["info"], { stdio: "ignore" }).status !== 0) return [];
  const name = `steps-bench-${process.pid}`;
  try {
    await startContainer(scratch, name);
    return [await throughExec(name)];
  } finally {
    spawnSync("docker", ["rm", "-f", "-v", name], { stdio: "ignore" });
    spawnSync("docker", ["rmi", "-f", IMAGE], { stdio: "ignore" });
  }
}

async function startContainer(scratch: string, name: string): Promise<void> {
  const [root, volume, data] = ["image", "volume", "data"].map((folder) => join(scratch, folder)) as [
    string,
    string,
    string,
  ];
  for (const folder of [join(root, "bin"), join(root, "tmp"), join(root, "root"), volume, data]) {
    mkdirSync(folder, { recursive: true });
  }
  copyFileSync("/bin/busybox", join(root, "bin/busybox"));
  for (const applet of ["sh", "cat"]) symlinkSync("busybox", join(root, "bin", applet));
  writeFileSync(join(data, "log"), `${"x".repeat(63)}\n`.repeat(BYTES / 64));
  execFileSync("sh", ["-c", `tar -C '${root}' -c . | docker import - ${IMAGE}`], { stdio: "ignore" });
  execFileSync(command, ["steps", "bootstrap", join(volume, "helper")], { stdio: "ignore" });
  const mounts = ["-v", `${volume}:/opt/gitlab-runner:ro`, "-v", `${data}:/data:ro`];
  const serve = [IMAGE, "/opt/gitlab-runner/helper", "serve", "--socket", "/tmp/step-runner.sock"];
  execFileSync("docker", ["run", "-d", "--name", name, "--network", "none", ...mounts, ...serve], { stdio: "ignore" });
  const logs = spawn("docker", ["logs", "-f", name], { stdio: ["ignore", "ignore", "pipe"] });
  for await (const chunk of logs.stderr) if (String(chunk).includes("is listening")) break;
  logs.kill();
}

async function throughExec(name: string): Promise<Row> {
  const dial = dialDocker({ container: name, commands: [["/opt/gitlab-runner/helper", "proxy"]] });
  const definition = JSON.stringify([{ name: "cat", exec: { command: ["cat", "/data/log"] } }]);
  const { id, token = "" } = await runAndFollow(dial, { definition }, { keep: true });
  const [floor = [], measured = []] = await interleaveAll(ROUNDS, [
    () => time("docker", ["exec", name, "cat", "/data/log"]),
    async () => {
      const start = performance.now();
      let bytes = 0;
      await followJob(dial, id, { token, onOutput: (_stream, piece) => void (bytes += piece.length) });
      if (bytes !== BYTES) throw new Error(`The log has ${bytes} bytes`);
      return performance.now() - start;
    },
  ]);
  const label = "log through Docker exec : docker exec cat";
  return shareOf(label, { floor, measured, bytes: BYTES, limit: 0.6 });
}
