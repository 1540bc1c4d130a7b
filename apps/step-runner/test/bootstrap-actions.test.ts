import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { createWorld } from "./harness.ts";

test.skipIf(process.platform !== "linux")(
  "a program that was left in a volume runs JavaScript actions, with its own Node.js where it has one, and so do they",
  async () => {
    const world = createWorld();
    const bootstrapped = await world.run(["bootstrap", join(world.dir, "volume")]);
    expect(bootstrapped, bootstrapped.stderr).toMatchObject({ code: 0 });
    const launcher = join(world.dir, "volume/step-runner");
    const brought = readdirSync(dirname(launcher), { recursive: true, encoding: "utf8" });
    const bin = join(world.dir, "bin");
    for (const dir of [bin, join(world.work, "act")]) mkdirSync(dir);
    symlinkSync("/bin/sh", join(bin, "sh"));
    writeFileSync(join(world.work, "act/action.yml"), "name: act\nruns: {using: node24, main: main.js}\n");
    const main = `const { execFileSync } = require("child_process");
      console.log(execFileSync(process.execPath, ["-p", "40 + 2"]).toString().trim(), process.argv.length);`;
    writeFileSync(join(world.work, "act/main.js"), main);
    const env = { ...world.env, STEPS: "[{name: act, action: ./act}]" };
    const call = (path: string): SpawnSyncReturns<string> =>
      spawnSync(launcher, ["ci"], { cwd: world.work, env: { ...env, PATH: path }, encoding: "utf8" });
    const ran = call(bin);
    if (brought.some((name) => name.endsWith("/node"))) {
      expect(ran, ran.stderr).toMatchObject({ status: 0, stdout: "42 2\n" });
      return;
    }
    // The packed executable is no Node.js, and takes that of the image.
    expect(ran).toMatchObject({ status: 127, stdout: "" });
    expect(ran.stderr).toContain("the action asks for node24 and there is no Node.js here");
    symlinkSync(process.execPath, join(bin, "node"));
    const found = call(bin);
    expect(found, found.stderr).toMatchObject({ status: 0, stdout: "42 2\n" });
  },
  60_000,
);
