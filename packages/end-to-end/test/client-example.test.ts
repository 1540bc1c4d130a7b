import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { createUser } from "./client-harness.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

test("a runner in twenty lines", async () => {
  const user = createUser();
  await user.serve();
  const folder = join(user.dir, "runner");
  cpSync(join(ROOT, "examples/runner"), folder, { recursive: true });
  mkdirSync(join(folder, "node_modules/@steps"), { recursive: true });
  for (const name of ["client", "dial"])
    symlinkSync(join(ROOT, "packages", name), join(folder, "node_modules/@steps", name));
  const { status, stdout, stderr } = await user.start(join(folder, "runner.ts"), [join(folder, "steps.yml")]).ended;
  expect({ status, stdout: stdout.toString(), stderr }).toEqual({
    status: 0,
    stdout: "hello from Linux\n1\n2\n3\n",
    stderr: "a warning\n",
  });
});
