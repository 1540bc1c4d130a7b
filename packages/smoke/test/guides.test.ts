import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hasProgram, isFullSize, withTempDir } from "@steps/testkit";
import { describe, expect, test } from "vitest";
import { startExampleHosts } from "./guides/example-hosts.ts";
import { type Block, readPage, withOutputs } from "./guides/read-page.ts";
import { runPage, TOO_LONG_MS } from "./guides/run-page.ts";
import { isSameOutput } from "./guides/steady-text.ts";
import { root } from "./workspace.ts";

const folder = join(root, "docs/guide");
const pages = readdirSync(folder).filter((name) => name.endsWith(".md"));
/** A pod needs seconds of processor time to make its database. */
const LONG = ["pods.md"];

function textOf(name: string): string {
  return readFileSync(join(folder, name), "utf8");
}

function isRun({ kind }: Block): boolean {
  return kind === "commands" || kind === "session";
}

async function readThrough(name: string): Promise<string> {
  const text = textOf(name);
  const blocks = readPage(text);
  const { calls, stopped } = await withTempDir(async (machine) => {
    const srv = join(machine, "srv");
    mkdirSync(srv);
    await using hosts = await startExampleHosts(text, srv);
    return await runPage(blocks, machine, hosts.env);
  });
  expect(stopped).toBeUndefined();
  const shown = blocks.flatMap((block) => (block.kind === "session" ? block.calls : []));
  expect(calls.filter(({ code }, i) => code !== 0 && shown[i + 1]?.command !== "echo $?")).toEqual([]);
  const outputs = shown.map(({ output }, i) => {
    const printed = calls[i]?.text ?? "";
    return isSameOutput(output, printed) ? output : printed;
  });
  return withOutputs(text, outputs);
}

describe.skipIf(!hasProgram("script"))("docs/guide", { timeout: TOO_LONG_MS + 10_000 }, () => {
  const run = pages.filter((name) => readPage(textOf(name)).some(isRun));

  // `-u` writes to the page what its commands print, where that is something else.
  test.concurrent.for(run.filter((name) => !LONG.includes(name)))("%s does what it says", async (name, context) => {
    await context.expect(await readThrough(name)).toMatchFileSnapshot(join(folder, name));
  });

  test.for(isFullSize ? LONG : [])("%s does what it says, though it takes long", async (name) => {
    await expect(await readThrough(name)).toMatchFileSnapshot(join(folder, name));
  });
});

describe("the blocks of docs/guide", () => {
  test("that are not run are these, and each says why", () => {
    const reasons = pages.map((name) => [
      name,
      readPage(textOf(name)).flatMap((block) => (block.kind === "not run" ? [block.reason] : [])),
    ]);
    expect(Object.fromEntries(reasons.filter(([, found]) => found?.length))).toMatchInlineSnapshot(`
      {
        "containers.md": [
          "needs images from a registry of the internet",
        ],
        "helper-image.md": [
          "needs images from registries of the internet",
          "needs images from registries of the internet",
        ],
        "install.md": [
          "takes minutes; the tests of packages/smoke make a release",
          "needs a release; the tests of packages/smoke install from one",
          "needs root and systemd",
          "needs root and systemd",
          "needs a release; the tests of packages/smoke start its image",
        ],
        "pods-on-kubernetes.md": [
          "needs a cluster, or a registry to push to",
          "needs a cluster, or a registry to push to",
          "needs a cluster",
        ],
        "pods.md": [
          "the body of a request",
          "needs a store",
        ],
        "private.md": [
          "needs a server with ssh",
        ],
        "runner.md": [
          "needs the packages, which are not published yet",
        ],
        "several-pods.md": [
          "takes ports that others may have; apps/pod/test/modes starts the same programs",
          "needs the pods above",
          "a part of router.yml",
          "needs the pods above",
        ],
      }
    `);
  });

  test("that are neither run nor named files say why", () => {
    const shown = pages.map((name) => [
      name,
      readPage(textOf(name)).flatMap((block) => (block.kind === "shown" ? [`line ${block.line}`] : [])),
    ]);
    expect(Object.fromEntries(shown.filter(([, found]) => found?.length))).toEqual({});
  });

  test("are reached from the list of guides", () => {
    const list = textOf("README.md");
    expect(pages.filter((name) => name !== "README.md" && !list.includes(`](${name})`))).toEqual([]);
  });

  test("show the runner of examples/runner as it is", () => {
    const example = readFileSync(join(root, "examples/runner/runner.ts"), "utf8");
    expect(textOf("runner.md")).toContain(example);
  });
});
