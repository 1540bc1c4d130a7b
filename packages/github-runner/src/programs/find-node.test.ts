import {
  appendFileSync,
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import type { NodeProgram } from "@steps/platform/runtime";
import { expectNode, findNode, type FindNodeOptions } from "./find-node.ts";

let root = "";
let own: NodeProgram;

beforeEach(() => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "find-node-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  root = dir;
  own = { program: program("own/node", "v24.5.0"), version: "v24.5.0" };
});

/** A program that says its version, and writes down that it was asked. */
function program(path: string, says: string, script = `echo '${says}'`): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `#!/bin/sh\necho "$0" >> '${join(root, "asked")}'\n${script}\n`);
  chmodSync(file, 0o755);
  return file;
}

function asked(): string[] {
  const file = join(root, "asked");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

function tool(version: string, options: { isWhole?: boolean } = {}): string {
  const file = program(`tools/node/${version}/${process.arch}/bin/node`, "v0.0.0");
  if (options.isWhole !== false) writeFileSync(join(root, `tools/node/${version}/${process.arch}.complete`), "");
  return file;
}

function find(using: string, options: Partial<FindNodeOptions> = {}) {
  return findNode(using, {
    path: `${root}/bin:/usr/bin-that-is-not`,
    toolCacheDir: join(root, "tools"),
    own,
    ...options,
  });
}

test("is asked once, by whoever expects it and whoever needs it", async () => {
  const node = program("bin/node", "v22.1.0");
  const options = { path: `${root}/bin`, toolCacheDir: undefined, own };
  for (const using of ["node22", "docker", "", "node22"]) expectNode(using, options);
  expect(await find("node22")).toEqual({ program: node, version: "22.1.0" });
  expect(asked()).toEqual([node]);
});

describe("the exact major", () => {
  test("is our own runtime without asking any program", async () => {
    program("bin/node24", "v24.9.0");
    tool("24.8.0");
    expect(await find("node24")).toEqual({ program: own.program, version: "24.5.0" });
    expect(asked()).toEqual([]);
  });

  test("is what is configured before our own", async () => {
    const configured = program("opt/node", "v24.1.2");
    expect(await find("node24", { env: { STEP_RUNNER_NODE24: configured } })).toEqual({
      program: configured,
      version: "24.1.2",
    });
  });

  test("is the newest of the tool cache, without asking it", async () => {
    tool("20.1.0");
    const newest = tool("20.11.0");
    tool("20.9.0");
    tool("22.0.0");
    program("bin/node20", "v20.99.0");
    expect(await find("node20")).toEqual({ program: newest, version: "20.11.0" });
    expect(asked()).toEqual([]);
  });

  test("is not half a folder of the tool cache, nor another architecture's, nor one with a name that is no version", async () => {
    tool("20.1.0", { isWhole: false });
    tool("latest");
    program("tools/node/20.2.0/other/bin/node", "v20.2.0");
    writeFileSync(join(root, "tools/node/20.2.0/other.complete"), "");
    expect((await find("node20")).program).toBe(own.program);
  });

  test("is node20 on the PATH, then node", async () => {
    const plain = program("bin/node", "v20.0.1");
    expect(await find("node20")).toEqual({ program: plain, version: "20.0.1" });
    const named = program("bin/node20", "v20.0.2");
    expect(await find("node20")).toEqual({ program: named, version: "20.0.2" });
  });

  test("is the second node on the PATH if the first is another", async () => {
    program("bin/node", "v18.0.0");
    const second = program("bin2/node", "v20.3.0");
    expect(await find("node20", { path: `${root}/bin:${root}/bin2` })).toEqual({ program: second, version: "20.3.0" });
  });

  test.each(["node12", "node16", "NODE20"])("of %s is 20", async (using) => {
    const found = tool("20.1.0");
    expect(await find(using)).toEqual({ program: found, version: "20.1.0" });
  });
});

describe("a newer one", () => {
  test("is the newest of what is configured, in the tool cache and on the PATH, with a note", async () => {
    const newest = program("bin/node", "v23.1.0");
    tool("22.9.0");
    const env = { STEP_RUNNER_NODE22: program("opt/node", "v22.1.0"), STEP_RUNNER_NODE18: "/nowhere" };
    const found = await find("node20", { env });
    expect(found).toMatchObject({ program: newest, version: "23.1.0", note: { code: "node-other-version" } });
    expect(found.note?.message).toContain("node20");
    expect(found.note?.message).toContain("23.1.0");
  });

  test("may have a name of its own", async () => {
    const found = program("bin/node26", "v26.0.0");
    expect(await find("node25")).toMatchObject({ program: found, note: { code: "node-other-version" } });
  });

  test("is not an older one: then our own runs it, which may be older too", async () => {
    tool("20.1.0");
    program("bin/node", "v18.0.0");
    const found = await find("node99");
    expect(found).toMatchObject({ program: own.program, version: "24.5.0", note: { code: "node-own-runtime" } });
    expect(found.note?.message).toContain("older");
    const newer = await find("node22");
    expect(newer).toMatchObject({ program: own.program, note: { code: "node-own-runtime" } });
    expect(newer.note?.message).not.toContain("older");
  });
});

describe("a runner that is packed as one executable", () => {
  test("takes the newest of the PATH, although it is older than the action asks for, and says so", async () => {
    program("bin/node20", "v20.1.0");
    const found = program("bin/node", "v22.1.0");
    expect(await find("node24", { own: undefined })).toMatchObject({
      program: found,
      note: { code: "node-other-version", message: expect.stringContaining("which is older") as string },
    });
  });

  test("says what is missing where there is no Node.js", async () => {
    await expect(find("node20", { own: undefined })).rejects.toThrow("there is no Node.js here");
  });
});

describe("programs that are of no use", () => {
  test.each([
    ["prints something else", "echo hello"],
    ["prints a version and more", "echo v20.0.0; echo v20.0.0"],
    ["fails", "echo v20.0.0; exit 3"],
    ["floods", "/usr/bin/yes v20.0.0 | /usr/bin/head -c 200000"],
    ["prints nothing", ":"],
    ["is killed", "kill -9 $$"],
  ])("one that %s is passed over", async (_, script) => {
    program("bin/node20", "", script);
    expect(await find("node20")).toMatchObject({ program: own.program, note: { code: "node-own-runtime" } });
  });

  test("one that hangs is killed with what it started, and asked once", async () => {
    program("bin/node20", "", `/bin/sleep 1000 & echo $! > '${join(root, "child")}'; wait`);
    expect(await find("node20")).toMatchObject({ program: own.program });
    expect(await find("node20")).toMatchObject({ program: own.program });
    expect(asked()).toHaveLength(1);
    const child = readFileSync(join(root, "child"), "utf8").trim();
    await expect.poll(() => isGone(child)).toBe(true);
  });

  test("one that leaves a child with its output open does not hold it up", async () => {
    const found = program("bin/node20", "", `echo v20.7.0; /bin/sleep 1000 & echo $! > '${join(root, "child")}'`);
    // It has not closed its output, but it has ended with a good answer.
    expect(await find("node20")).toEqual({ program: found, version: "20.7.0" });
    const child = readFileSync(join(root, "child"), "utf8").trim();
    await expect.poll(() => isGone(child)).toBe(true);
  });

  test("entries of the PATH that are not absolute are not looked into", async () => {
    const before = process.cwd();
    program("node20", "v20.0.0");
    process.chdir(root);
    onTestFinished(() => process.chdir(before));
    expect(await find("node20", { path: ".::bin" })).toMatchObject({ program: own.program });
    expect(await find("node20", { path: undefined })).toMatchObject({ program: own.program });
    expect(asked()).toEqual([]);
  });

  test("what is configured and does not run is said, and the next place is taken", async () => {
    const found = await find("node24", { env: { STEP_RUNNER_NODE24: join(root, "missing") } });
    expect(found).toMatchObject({ program: own.program, note: { code: "node-not-usable" } });
    expect(found.note?.message).toContain("STEP_RUNNER_NODE24");
    const relative = await find("node20", { env: { STEP_RUNNER_NODE20: "node" } });
    expect(relative.note?.message).toContain("STEP_RUNNER_NODE20");
  });

  test("another kind of action is refused", async () => {
    await expect(find("docker")).rejects.toMatchObject({ code: "REFERENCE_INVALID" });
    await expect(find("node20; rm")).rejects.toMatchObject({ code: "REFERENCE_INVALID" });
  });
});

describe("what is known", () => {
  test("is not asked again until the file is another", async () => {
    const file = program("bin/node", "v20.0.0");
    await Promise.all([find("node20"), find("node20")]);
    await find("node20");
    expect(asked()).toHaveLength(1);
    appendFileSync(file, "# longer\n");
    utimesSync(file, 1, 1);
    await find("node20");
    expect(asked()).toHaveLength(2);
  });

  test("includes our own runtime under another name", async () => {
    mkdirSync(join(root, "bin"));
    symlinkSync(own.program, join(root, "bin/node"));
    expect(await find("node20")).toMatchObject({ program: join(root, "bin/node"), version: "24.5.0" });
    expect(asked()).toEqual([]);
  });

  test("does not let NODE_OPTIONS reach the program", async () => {
    const found = program("bin/node20", "", 'echo "v20.0.${NODE_OPTIONS:-1}"');
    expect(await find("node20", { env: { NODE_OPTIONS: "9" } })).toMatchObject({ program: found, version: "20.0.1" });
  });

  test("holds for the real one", async () => {
    mkdirSync(join(root, "real"));
    const [major = ""] = process.versions.node.split(".");
    copyFileSync(process.execPath, join(root, `real/node${major}`));
    expect(await find(`node${major}`, { path: join(root, "real"), own: undefined })).toEqual({
      program: join(root, `real/node${major}`),
      version: process.versions.node,
    });
  });
});

function isGone(pid: string): boolean {
  try {
    return (readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1] ?? "").startsWith("Z");
  } catch {
    return true;
  }
}
