import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createWorld } from "./harness.ts";

const PAGE = join(import.meta.dirname, "../../../docs/reference/gitlab-ci.md");
const PAIR = /^### ([\w-]+)\n(.*?)```yaml\n(.*?)```\n\n```yaml\n(.*?)```$/gms;

test("compile prints the jobs of docs/reference/gitlab-ci.md as the page has them", async () => {
  const page = readFileSync(PAGE, "utf8");
  const start = page.indexOf("## Five jobs and what they become");
  const pairs = [...page.slice(start).matchAll(PAIR)];
  expect(pairs).toHaveLength(5);
  let written = page;
  for (const [whole, name = "", , file = "", shown = ""] of pairs) {
    const world = createWorld();
    writeFileSync(join(world.dir, ".gitlab-ci.yml"), file);
    const { stdout, stderr, code } = await world.run(["compile", "--format", "gitlab-ci", "--job-name", name]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    written = written.replace(whole, () =>
      whole.replace(`\`\`\`yaml\n${shown}\`\`\``, () => `\`\`\`yaml\n${stdout}\`\`\``),
    );
  }
  await expect(written).toMatchFileSnapshot(PAGE);
});
