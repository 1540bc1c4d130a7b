import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createWorld } from "./harness.ts";

const PAGE = join(import.meta.dirname, "../../../docs/reference/gitlab-ci.md");
const PAIR = /^### ([\w-]+)\n(.*?)```yaml\n(.*?)```\n\n```yaml\n(.*?)```$/gms;
function git(cwd: string, args: readonly string[]): void {
  execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", ...args], { cwd });
}

// Every script has the same ones.
const PREDEFINED = /(?:^( +)((?:CI|GITLAB)\w*): \$\{\{ vars\["\2"\] \}\}\n)+/gm;
const COMMENT = "# the predefined variables\n";
const REPEATED = new RegExp(`(${COMMENT}(?: {6}\\w+: .*\n)+) +${COMMENT}`, "g");
const PROJECT = "https://gitlab.com/group/project";

test("compile prints the jobs of docs/reference/gitlab-ci.md as the page has them", async () => {
  const page = readFileSync(PAGE, "utf8");
  const start = page.indexOf("## Five jobs and what they become");
  const pairs = [...page.slice(start).matchAll(PAIR)];
  expect(pairs).toHaveLength(5);
  let written = page;
  for (const [whole, name = "", , file = "", shown = ""] of pairs) {
    const world = createWorld();
    writeFileSync(join(world.work, ".gitlab-ci.yml"), file);
    for (const args of [
      ["init", "-q", "-b", "main"],
      ["add", "."],
      ["commit", "-qm", "first"],
    ])
      git(world.work, args);
    const { stdout, stderr, code } = await world.run([
      "compile",
      "--format",
      "gitlab-ci",
      "--job-name",
      name,
      "--project-url",
      PROJECT,
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const printed = stdout.replaceAll(PREDEFINED, `$1${COMMENT}`).replaceAll(REPEATED, "$1");
    written = written.replace(whole, () =>
      whole.replace(`\`\`\`yaml\n${shown}\`\`\``, () => `\`\`\`yaml\n${printed}\`\`\``),
    );
  }
  await expect(written).toMatchFileSnapshot(PAGE);
});
