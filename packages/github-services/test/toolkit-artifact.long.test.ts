import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "@steps/testkit";
import { openJob, openServices } from "./fixtures.ts";

test.each(["artifact", "artifact-v2"])(
  "@actions/artifact (%s) uploads, lists, downloads and deletes",
  async (client) => {
    const artifactDir = join(tempDir(), "artifacts");
    const services = await openServices({ artifactDir });
    const job = openJob(services);
    mkdirSync(join(job.workspace, "dist", "deep"), { recursive: true });
    const files = ["dist/a.txt", "dist/deep/ü b.txt"].map((path) => join(job.workspace, path));
    files.forEach((path, index) => writeFileSync(path, `content ${index}`));

    const upload = ["uploadArtifact", "site", files, job.workspace, { retentionDays: 3 }] as const;
    const first = await job.call(
      client,
      upload,
      upload,
      ["listArtifacts"],
      ["getArtifact", "site"],
      ["getArtifact", "none"],
    );
    const zip = readFileSync(join(artifactDir, "site.zip"));
    const digest = createHash("sha256").update(zip).digest("hex");
    expect(first.results[0]).toEqual({ id: 1, size: zip.length, digest });
    expect(services.artifacts()).toEqual([{ name: "site", path: join(artifactDir, "site.zip"), bytes: zip.length }]);
    expect(first.errors[1]).toContain("an artifact with this name already exists on the workflow run");
    expect(first.results[2]).toMatchObject({ artifacts: [{ name: "site", id: 1, size: zip.length }] });
    expect(first.results[3]).toMatchObject({ artifact: { id: 1 } });
    expect(first.errors[4]).toContain("Artifact not found for name: none");

    const path = join(job.workspace, "got");
    const download = ["downloadArtifact", 1, { path, expectedHash: `sha256:${digest}` }] as const;
    const second = await job.call(client, download, ["deleteArtifact", "site"], ["listArtifacts"], upload);
    expect(second.results[0]).toEqual({ downloadPath: path, digestMismatch: false });
    expect(readFileSync(join(path, "dist/deep/ü b.txt"), "utf8")).toBe("content 1");
    expect(second.results.slice(1)).toMatchObject([{ id: 1 }, { artifacts: [] }, { id: 2 }]);
  },
);

test("@actions/artifact uploads what takes many blocks, and nothing at all", async () => {
  const artifactDir = join(tempDir(), "artifacts");
  const job = openJob(await openServices({ artifactDir }));
  const contents = { "large.bin": randomBytes(20 * 1024 ** 2 + 1), "empty.bin": Buffer.alloc(0) };
  for (const [name, bytes] of Object.entries(contents)) writeFileSync(join(job.workspace, name), bytes);
  const calls = Object.keys(contents).map((name) => {
    const file = join(job.workspace, name);
    return ["uploadArtifact", "x", [file], job.workspace, { skipArchive: true }] as const;
  });
  const { results } = await job.call("artifact", ...calls);
  expect(results).toMatchObject(Object.values(contents).map(({ length }) => ({ size: length })));
  for (const [name, bytes] of Object.entries(contents)) {
    expect(readFileSync(join(artifactDir, name)).equals(bytes)).toBe(true);
  }
});

test("@actions/artifact uploads a single file as it is", async () => {
  const artifactDir = join(tempDir(), "artifacts");
  const services = await openServices({ artifactDir });
  const job = openJob(services);
  const file = join(job.workspace, "report ä.html");
  writeFileSync(file, "<p>hello</p>");
  const path = join(job.workspace, "got");
  const { results } = await job.call(
    "artifact",
    ["uploadArtifact", "ignored", [file], job.workspace, { skipArchive: true }],
    ["downloadArtifact", 1, { path }],
  );
  expect(results[0]).toMatchObject({ id: 1, size: 12 });
  expect(readFileSync(join(artifactDir, basename(file)), "utf8")).toBe("<p>hello</p>");
  expect(readFileSync(join(path, basename(file)), "utf8")).toBe("<p>hello</p>");
});

test("@actions/artifact of the first generation uploads and downloads files", async () => {
  const artifactDir = join(tempDir(), "artifacts");
  const services = await openServices({ artifactDir });
  const job = openJob(services);
  mkdirSync(join(job.workspace, "dist", "deep"), { recursive: true });
  const contents = {
    "dist/empty": Buffer.alloc(0),
    "dist/small.txt": Buffer.from("s".repeat(5000)),
    "dist/deep/large.txt": Buffer.from("line\n".repeat(100_000)),
    "dist/random": Buffer.from(Uint8Array.from({ length: 9 * 1024 ** 2 }, (_, index) => (index * 2654435761) >>> 13)),
    "dist/few": Buffer.from("x"),
  };
  for (const [path, content] of Object.entries(contents)) writeFileSync(join(job.workspace, path), content);
  const files = Object.keys(contents).map((path) => join(job.workspace, path));
  const path = join(job.workspace, "got");
  const { results, errors } = await job.call(
    "artifact-v1",
    ["uploadArtifact", "site", files, job.workspace],
    ["downloadArtifact", "site", path, { createArtifactFolder: true }],
    ["downloadArtifact", "none", path],
  );
  expect(results[0]).toMatchObject({ artifactName: "site", failedItems: [] });
  const bytes = Object.values(contents).reduce((sum, { length }) => sum + length, 0);
  expect(services.artifacts()).toEqual([{ name: "site", path: join(artifactDir, "site"), bytes }]);
  for (const [path, content] of Object.entries(contents)) {
    expect(readFileSync(join(artifactDir, "site", path)).equals(content)).toBe(true);
  }

  expect(results[1]).toMatchObject({ artifactName: "site", downloadPath: join(path, "site") });
  for (const [name, content] of Object.entries(contents)) {
    expect(readFileSync(join(path, "site", name)).equals(content)).toBe(true);
  }
  expect(errors[2]).toContain("Unable to find an artifact");
});
