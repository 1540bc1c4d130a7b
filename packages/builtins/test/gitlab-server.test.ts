import { gunzipSync } from "node:zlib";
import { type RunnerServer, type ServedJob, snapshot, startRunnerServer } from "@steps/testkit";
import { expect, onTestFinished, test } from "vitest";
import { downloadArtifacts } from "../src/gitlab/artifacts/artifacts-download.ts";
import { uploadArtifacts } from "../src/gitlab/artifacts/artifacts-upload.ts";
import { gitlabWorld } from "./gitlab-world.ts";

async function serve(): Promise<{ readonly server: RunnerServer; readonly job: ServedJob }> {
  const server = await startRunnerServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { server, job: server.queue({ id: 4, token: "job" }) };
}

test("an archive goes to the server of the job, and from there to the next job", async () => {
  const { server, job } = await serve();
  const first = gitlabWorld({ "dist/a": "1", "dist/skip": "2" });
  const { outputs } = await first.run("artifacts-upload", uploadArtifacts, {
    server_url: server.url,
    job_id: 4,
    token: "job",
    job: "build",
    name: "group/files",
    paths: ["dist/"],
    exclude: ["dist/skip"],
    expire_in: "1 day",
  });
  expect(outputs).toMatchObject({ files: 2, digest: expect.stringMatching(/^sha256:/) });
  const [upload] = job.uploads;
  expect([upload?.name, upload?.query.toString()]).toEqual([
    "group-files.zip",
    "expire_in=1+day&artifact_format=zip&artifact_type=archive",
  ]);
  server.setArchive(7, upload?.file ?? Buffer.alloc(0));
  const second = gitlabWorld();
  await second.run("artifacts-download", downloadArtifacts, {
    server_url: server.url,
    sources: [{ job: "build", id: 7 }],
    tokens: { 7: "job" },
  });
  expect(snapshot(second.project)).toEqual({ "dist/a": "1" });
});

test("files of a report that is packed stand one after the other", async () => {
  const { server, job } = await serve();
  const world = gitlabWorld({ "a.xml": "<a/>", "b.xml": "<b/>" });
  const inputs = { server_url: server.url, job_id: 4, token: "job", job: "t", paths: ["*.xml"], type: "junit" };
  await world.run("artifacts-upload", uploadArtifacts, { ...inputs, format: "gzip" });
  expect(gunzipSync(job.uploads[0]?.file ?? Buffer.alloc(0)).toString()).toBe("<a/><b/>");
  await expect(world.run("artifacts-upload", uploadArtifacts, { ...inputs, format: "raw" })).rejects.toThrow(
    'format "raw" takes one file, and there are 2',
  );
});

test("without files nothing is uploaded, and a refusal says what the server answered", async () => {
  const { server, job } = await serve();
  const world = gitlabWorld({ a: "1" });
  const inputs = { server_url: server.url, job_id: 4, job: "t" };
  await world.run("artifacts-upload", uploadArtifacts, { ...inputs, token: "job", paths: ["none"] });
  expect([job.uploads, world.said()]).toEqual([[], expect.stringContaining("No files to upload")]);
  const refused = world.run("artifacts-upload", uploadArtifacts, { ...inputs, token: "other", paths: ["a"] });
  await expect(refused).rejects.toMatchObject({
    message: expect.stringContaining("the server answered 403"),
    hint: expect.stringContaining("token"),
  });
  const sources = [{ job: "build", id: 7 }];
  const missing = world.run("artifacts-download", downloadArtifacts, {
    server_url: server.url,
    sources,
    tokens: { 7: "job" },
  });
  await expect(missing).rejects.toThrow(
    'Cannot download the artifacts of job "build" (7): Downloading them failed: the server answered 404',
  );
});
