import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

const apps = join(import.meta.dirname, "../../../apps");

/** Nodes of the machine that are older than the commands need, as distributions bring them. */
const OLD = ["/usr/bin/node", "/usr/local/bin/node"].filter((path) => existsSync(path) && majorOf(path) < 22);

function majorOf(node: string): number {
  return Number(/^v(\d+)/.exec(spawnSync(node, ["--version"], { encoding: "utf8" }).stdout)?.[1] ?? Infinity);
}

describe.each(["step-runner", "runner-bridge", "pod"])("%s on a Node that is too old", (app) => {
  const main = join(apps, app, "dist", "main.cjs");
  const { engines } = JSON.parse(readFileSync(join(apps, app, "package.json"), "utf8")) as {
    readonly engines: { readonly node: string };
  };
  const needed = engines.node.replace(">=", "");

  test("says what it needs, before it loads anything", () => {
    // Only the version is old, so that any Node can be taken for it; what is loaded later is not there at all.
    const dir = mkdtempSync(join(tmpdir(), "steps-old-node-"));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const alone = join(dir, "main.cjs");
    writeFileSync(alone, readFileSync(main));
    const fake = join(dir, "old.cjs");
    writeFileSync(fake, 'Object.defineProperty(process.versions, "node", { value: "20.20.2" });\n');
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--require", fake, alone, "--version"], {
      encoding: "utf8",
    });
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: "",
      stderr: `${app}: Node.js 20.20.2 at ${process.execPath} is too old\n  hint: ${app} needs Node.js ${needed} or later: https://nodejs.org/\n`,
    });
  });

  test.each(OLD)("as %s is", (node) => {
    const { status, stderr } = spawnSync(node, [main, "ci"], { encoding: "utf8", env: { STEPS: "[]" } });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining(`needs Node.js ${needed} or later`),
    });
  });
});
