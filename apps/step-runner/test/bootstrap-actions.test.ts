import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createWorld } from "./harness.ts";

test.skipIf(process.platform !== "linux")(
  "a program that was left in a volume runs JavaScript actions with its own Node.js, and so do they",
  async () => {
    const world = createWorld();
    const bootstrapped = await world.run(["bootstrap", join(world.dir, "volume")]);
    expect(bootstrapped, bootstrapped.stderr).toMatchObject({ code: 0 });
    const bin = join(world.dir, "bin");
    for (const dir of [bin, join(world.work, "act")]) mkdirSync(dir);
    symlinkSync("/bin/sh", join(bin, "sh"));
    writeFileSync(join(world.work, "act/action.yml"), "name: act\nruns: {using: node24, main: main.js}\n");
    const main = `const { execFileSync } = require("child_process");
      console.log(execFileSync(process.execPath, ["-p", "40 + 2"]).toString().trim(), process.argv.length);`;
    writeFileSync(join(world.work, "act/main.js"), main);
    const env = { ...world.env, PATH: bin, STEPS: "[{name: act, action: ./act}]" };
    const ran = spawnSync(join(world.dir, "volume/step-runner"), ["ci"], { cwd: world.work, env, encoding: "utf8" });
    expect(ran, ran.stderr).toMatchObject({ status: 0, stdout: "42 2\n" });
  },
  60_000,
);
