import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createGitRepository, hasProgram } from "@steps/testkit";
import { expect, test } from "vitest";
import { createUser } from "./client-harness.ts";

const EXAMPLE = resolve(import.meta.dirname, "../../../examples/actions");

// The list of the job, as a file of its own.
function listOf(ciFile: string): string {
  const lines = ciFile.split("\n");
  const start = lines.indexOf("  run:") + 1;
  return lines
    .slice(start)
    .map((line) => line.slice("    ".length))
    .join("\n");
}

test.skipIf(!hasProgram("git"))("the bridge runs examples/actions on a service, with its trace", async () => {
  const user = createUser();
  await user.serve();
  cpSync(EXAMPLE, join(user.dir, "work"), { recursive: true });
  const repository = await createGitRepository(join(user.dir, "work"), { LICENSE: "MIT\n" });
  const commit = await repository.revision();
  const list = listOf(readFileSync(join(EXAMPLE, ".gitlab-ci.yml"), "utf8"));
  writeFileSync(join(user.dir, "steps.yml"), list);
  const { ended } = user.bridge("run", "steps.yml", "--work-dir", "work", "--output-file", "trace.json");
  const { status, stdout, stderr } = await ended;
  expect(stderr).toBe("");
  expect(status).toBe(0);
  const text = stdout.toString();
  expect(text).toMatch(new RegExp(`\\d+ words at ${commit.slice(0, 7)}; the action counted in JavaScript\n`));
  expect(text.match(/After the last step: \d+ words were counted\n/g)).toHaveLength(2);
  const trace = JSON.parse(readFileSync(join(user.dir, "trace.json"), "utf8")) as {
    root: { children: { name: string; phase?: string }[] };
  };
  const steps = trace.root.children.map(({ name, phase }) => (phase === undefined ? name : `${phase}: ${name}`));
  const own = ["checkout", "measure", "count", "report", "tell"];
  expect(steps).toEqual([...own, "post: Post report", "post: Post count"]);
});
