import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createGitRepository, snapshot, tempDir } from "@steps/testkit";
import type { Value } from "@steps/model";
import { describe, expect, test } from "vitest";
import { downloadArtifacts } from "../src/gitlab/artifacts/artifacts-download.ts";
import { uploadArtifacts } from "../src/gitlab/artifacts/artifacts-upload.ts";
import { parseDotenv } from "../src/gitlab/artifacts/parse-dotenv.ts";
import { reportDotenv } from "../src/gitlab/artifacts/report-dotenv.ts";
import type { GitlabResult } from "../src/gitlab/gitlab-step.ts";
import { type GitlabWorld, gitlabWorld, writeFiles } from "./gitlab-world.ts";

type Inputs = Readonly<Record<string, Value>>;

async function upload({ run, store }: GitlabWorld, inputs: Inputs): Promise<GitlabResult> {
  return await run("artifacts-upload", uploadArtifacts, { artifacts_dir: store, job: "build", ...inputs });
}

async function download({ run, store }: GitlabWorld, source: Inputs = { job: "build" }): Promise<GitlabResult> {
  return await run("artifacts-download", downloadArtifacts, { artifacts_dir: store, sources: [source] });
}

/** Uploads from one world, and gives what another one has after the download. */
async function passOn(files: Readonly<Record<string, string>>, inputs: Inputs): Promise<Record<string, string>> {
  const first = gitlabWorld(files);
  await upload(first, inputs);
  const second = gitlabWorld({}, first.store);
  await download(second);
  return snapshot(second.project);
}

describe("gitlab/artifacts-upload and -download", () => {
  test("bring folders with all that is hidden, links as links, programs as programs", async () => {
    const first = gitlabWorld({ "dist/a": "1", "dist/.b": "2", "dist/l": "-> a", "dist/sub/c": "3", other: "4" });
    chmodSync(join(first.project, "dist/a"), 0o755);
    mkdirSync(join(first.project, "dist/empty"));
    const { outputs } = await upload(first, { paths: ["dist/"] });
    expect(outputs["files"]).toBe(7);
    expect(outputs["archive"]).toMatch(/^build-[0-9a-f]{12}\/artifacts\.zip$/);
    const second = gitlabWorld({ "dist/a": "old", "dist/kept": "5" }, first.store);
    expect((await download(second, { job: "build", digest: outputs["digest"] ?? "" })).outputs["files"]).toBe(7);
    expect(snapshot(second.project)).toEqual({
      "dist/a": "x 1",
      "dist/.b": "2",
      "dist/l": "-> a",
      "dist/sub/c": "3",
      "dist/kept": "5",
    });
    expect(readdirSync(join(second.project, "dist/empty"))).toEqual([]);
  });

  test("give the same digest for the same files, whenever they were written", async () => {
    const digests = await Promise.all(
      [1000, 2000].map(async (time) => {
        const world = gitlabWorld({ a: "1", "b/c": "2" });
        utimesSync(join(world.project, "a"), time, time);
        return (await upload(world, { paths: ["a", "b"] })).outputs["digest"];
      }),
    );
    expect(digests[0]).toBe(digests[1]);
  });

  test("give all files one time of change, so that none is newer than another that it was made from", async () => {
    const first = gitlabWorld({ a: "1", b: "2" });
    await upload(first, { paths: ["*"] });
    const second = gitlabWorld({}, first.store);
    await download(second);
    const times = ["a", "b"].map((name) => statSync(join(second.project, name)).mtimeMs);
    expect(times[0]).toBe(times[1]);
    expect(times[0]).toBeGreaterThan(Date.now() - 60_000);
  });

  test("leave out what exclude matches, and only that", async () => {
    const files = { "dist/a.js": "1", "dist/a.map": "2", "dist/sub/b.map": "3", "log/x": "4", "tmp/y": "5" };
    expect(await passOn(files, { paths: ["dist", "log", "tmp"], exclude: ["dist/**/*.map", "log", "tmp/**"] })).toEqual(
      {
        "dist/a.js": "1",
        "log/x": "4",
      },
    );
  });

  test("bring untracked files, also ignored ones", async () => {
    const world = gitlabWorld();
    await createGitRepository(world.project, { tracked: "1", ".gitignore": "ignored\n" });
    writeFiles(world.project, { ignored: "2", "new/file": "3" });
    await upload(world, { untracked: true });
    const second = gitlabWorld({}, world.store);
    await download(second);
    expect(Object.keys(snapshot(second.project))).toEqual(expect.arrayContaining(["ignored", "new/file"]));
    expect(snapshot(second.project)).not.toHaveProperty(["tracked"]);
    expect(world.said()).toMatch(/untracked: found \d+ files/);
  });

  test("take absolute paths below the project; warn of those outside and of those that match nothing", async () => {
    const world = gitlabWorld({ "out/a": "1" });
    const { outputs } = await upload(world, { paths: [join(world.project, "out"), "/etc/passwd", "../x", "none/*"] });
    expect(outputs["files"]).toBe(2);
    const said = world.said();
    expect(said).toContain('WARNING: "/etc/passwd" is outside of the project');
    expect(said).toContain('WARNING: "../x" is outside of the project');
    expect(said).toContain("WARNING: none/*: no matching files");
  });

  test("bring neither the repository, nor the store, nor what is behind a link out of the project", async () => {
    const outside = tempDir();
    writeFileSync(join(outside, "secret"), "1");
    const world = gitlabWorld({ ".git/config": "x", a: "2", "sub/.git/config": "3" });
    symlinkSync(outside, join(world.project, "out"));
    symlinkSync("/usr/bin/env", join(world.project, "env"));
    const artifacts_dir = join(world.project, "store");
    await upload(world, { artifacts_dir, paths: [".", "out/secret"] });
    await upload(world, { artifacts_dir, paths: [".", "out/secret"] });
    expect(world.said()).toMatch(/"out\/secret" leads out of the project by a link[^]*"out" is a link that/);
    const second = gitlabWorld({}, artifacts_dir);
    await download(second);
    expect(snapshot(second.project)).toEqual({ a: "2", env: "-> /usr/bin/env", "sub/.git/config": "3" });
  });

  test("keep nothing of what the job has kept before", async () => {
    const world = gitlabWorld({ a: "1", "r.xml": "<x/>" });
    await upload(world, { paths: ["a"], reports: { junit: "r.xml" } });
    const { outputs } = await upload(world, { paths: ["none"] });
    expect(outputs).toEqual({ archive: "", digest: "", size: 0, files: 0 });
    const second = gitlabWorld({}, world.store);
    expect((await download(second)).outputs["files"]).toBe(0);
    expect(readdirSync(join(world.store, ".generations"))).toHaveLength(1);
  });

  test("keep reports one by one, raw or packed", async () => {
    const world = gitlabWorld({ "a/1.xml": "<a/>", "a/2.xml": "<b/>", "c.xml": "<c/>" });
    const reports = { junit: ["a/*.xml"], coverage_report: { coverage_format: "cobertura", path: "c.xml" } };
    await upload(world, { paths: ["c.xml"], type: "sast", format: "gzip", reports });
    const [entry = ""] = readdirSync(world.store).filter((name) => name.startsWith("build-"));
    const metadata = JSON.parse(readFileSync(join(world.store, entry, "metadata.json"), "utf8")) as object;
    expect(metadata).toMatchObject({
      job: "build",
      name: "artifacts",
      digest: "",
      reports: {
        junit: ["reports/junit/a/1.xml", "reports/junit/a/2.xml"],
        coverage_report: ["reports/coverage_report/c.xml"],
        sast: ["reports/sast/c.xml.gz"],
      },
    });
    expect(readFileSync(join(world.store, entry, "reports/junit/a/1.xml"), "utf8")).toBe("<a/>");
  });

  test("names of jobs that look the same have folders of their own", async () => {
    const world = gitlabWorld({ a: "1", b: "2" });
    await upload(world, { job: "Test: [a]", paths: ["a"] });
    await upload(world, { job: "test (a)", paths: ["b"] });
    const second = gitlabWorld({}, world.store);
    await download(second, { job: "Test: [a]" });
    expect(snapshot(second.project)).toEqual({ a: "1" });
  });

  test("a job that has kept nothing is said, and refused where it is required", async () => {
    const world = gitlabWorld();
    expect((await download(world)).outputs["files"]).toBe(0);
    expect(world.said()).toBe('Job "build" has kept no artifacts here');
    await expect(download(world, { job: "build", required: true })).rejects.toMatchObject({
      message: 'Cannot download the artifacts of job "build": it has kept none here',
      hint: "Run that job before this one.",
    });
  });

  test("an archive that was changed or cut, or is another one, is refused", async () => {
    const world = gitlabWorld({ a: "1" });
    const { outputs } = await upload(world, { paths: ["a"] });
    await expect(download(world, { job: "build", digest: `sha256:${"0".repeat(64)}` })).rejects.toThrow(
      `its digest is ${outputs["digest"] as string}, and not sha256:000`,
    );
    writeFileSync(join(world.store, outputs["archive"] as string), "PK");
    await expect(download(world)).rejects.toThrow(/its digest is sha256:[0-9a-f]{64}, and not sha256:/);
  });

  test("forms that no runner has are refused", async () => {
    const world = gitlabWorld({ a: "1" });
    await expect(upload(world, { format: "raw" })).rejects.toThrow('format "raw" is not for type "archive": use zip');
    await expect(upload(world, { type: "../x" })).rejects.toThrow("is no type of artifacts");
    await upload(world, { paths: ["a"], compression_level: "max" });
    expect(world.said()).toContain('WARNING: The level of compression "max" is none of fastest, fast, default');
    await expect(upload(world, { artifacts_dir: "here" })).rejects.toThrow("the path is not absolute");
    await expect(upload(world, { paths: ["a["] })).rejects.toThrow('the pattern "a["');
  });
});

describe("gitlab/report-dotenv", () => {
  async function report(world: GitlabWorld, files: readonly string[]): Promise<GitlabResult> {
    return await world.run("report-dotenv", reportDotenv, {
      artifacts_dir: world.store,
      job: "build",
      files: [...files],
    });
  }

  test("hands variables to jobs that download, beside the artifacts of the job, in any order", async () => {
    const world = gitlabWorld({ a: "1", "b.env": "A=x y\n1ST=2\nB='q'\n" });
    const { outputs } = await report(world, ["*.env"]);
    expect(outputs).toEqual({ variables: { A: "x y", "1ST": "2", B: "'q'" }, count: 3 });
    await upload(world, { paths: ["a"] });
    await report(world, ["*.env"]);
    const second = gitlabWorld({}, world.store);
    const { exports, outputs: downloaded } = await download(second);
    expect(downloaded).toEqual({ files: 1, variables: { A: "x y", B: "'q'" } });
    expect(exports).toEqual({ A: { value: "x y", isSensitive: false }, B: { value: "'q'", isSensitive: false } });
    expect(second.said()).toContain("WARNING: The variable 1ST is not set");
  });

  test("a report that is not there is a warning, and one that is too large or not UTF-8 an error", async () => {
    const world = gitlabWorld({ "big.env": `A=${"x".repeat(5200)}\n`, "b.env": "A=1\n" });
    expect((await report(world, ["none.env"])).outputs).toEqual({ variables: {}, count: 0 });
    expect(world.said()).toContain("WARNING: none.env: no matching files");
    await expect(report(world, ["big.env"])).rejects.toThrow("big.env: a report of variables may have 5120 bytes");
    writeFileSync(join(world.project, "b.env"), Buffer.from([0x41, 0x3d, 0xff]));
    await expect(report(world, ["b.env"])).rejects.toThrow("b.env: it is not UTF-8");
  });

  test.each([
    ["A=1", { A: "1" }],
    ["\ufeffA=1\r\nB = x = y \n", { A: "1", B: "x = y" }],
    ["A=1\nA=2", { A: "2" }],
    ['A="$B" # c\n', { A: '"$B" # c' }],
    ["A=", { A: "" }],
    ["__proto__=1", JSON.parse('{"__proto__": "1"}') as object],
    ["", {}],
  ])("parseDotenv() reads %j as GitLab does", (text, variables) => {
    expect({ ...parseDotenv(text, "f") }).toEqual({ ...variables });
    expect(Object.keys(parseDotenv(text, "f"))).toEqual(Object.keys(variables));
  });

  test.each([
    ["A=1\n\nB=2", "f:2: the line is empty"],
    ["# x", 'f:1: "# x" is not KEY=VALUE'],
    ["A", 'f:1: "A" is not KEY=VALUE'],
    ["A-B=1", 'f:1: the key "A-B" may only have'],
    ["export A=1", 'f:1: the key "export A" may only have'],
    ["=1", 'f:1: the key "" may only have'],
  ])("parseDotenv() refuses %j with the line", (text, problem) => {
    expect(() => parseDotenv(text, "f")).toThrow(problem);
  });
});
