import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { connectRunnerApi, type RunnerApi } from "@steps/runner-api/client";
import type { RunnerInfo } from "@steps/runner-api/messages";

const info: RunnerInfo = {
  name: "n",
  version: "1",
  revision: "",
  platform: "linux",
  architecture: "amd64",
  executor: "host",
  shell: "bash",
  labels: {},
  config: {},
  features: {},
};

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A server that answers each request in turn; the last answer is for all that follow. */
async function serve(
  ...answers: ((response: ServerResponse) => void)[]
): Promise<{ api: RunnerApi; seen: Seen[]; url: string }> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method, url, headers } = request;
      seen.push({ method, url, headers, body });
      (answers[Math.min(seen.length, answers.length) - 1] as (r: ServerResponse) => void)(response);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const retries = { attempts: 3, firstDelayMs: 1, longestDelayMs: 5 };
  const api = connectRunnerApi({ url: `${url}/sub/`, userAgent: "test 1", retries });
  closers.push(() => {
    api.close();
    server.closeAllConnections();
    server.close();
  });
  return { api, seen, url };
}

const json =
  (status: number, body: unknown, headers = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
const plain =
  (status: number, headers = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, headers).end();

test("requestJob() sends its token in body and header, and gives payload and ticket", async () => {
  const { api, seen } = await serve(
    plain(204, { "x-gitlab-last-update": "ticket" }),
    json(201, { id: 7, token: "job" }),
  );
  const none = await api.requestJob({ token: "glrt-x", system_id: "s_abcdefghijkl", info });
  expect(none).toMatchObject({ status: 204, lastUpdate: "ticket", payload: undefined });
  const some = await api.requestJob({ token: "glrt-x", info, last_update: none.lastUpdate });
  expect(some).toMatchObject({ status: 201, payload: { id: 7, token: "job" }, lastUpdate: undefined });
  expect(seen[0]).toMatchObject({ method: "POST", url: "/sub/api/v4/jobs/request" });
  expect(seen[0]?.headers).toMatchObject({ "runner-token": "glrt-x", "user-agent": "test 1" });
  expect(JSON.parse(seen[1]?.body ?? "")).toMatchObject({ token: "glrt-x", last_update: "ticket" });
});

test("a call that the server puts off is made again, and says so", async () => {
  const { api, seen } = await serve(plain(503, { "retry-after": "0" }), plain(500), plain(204));
  expect(await api.requestJob({ token: "t", info })).toMatchObject({ status: 204, wasPutOff: true });
  expect(seen).toHaveLength(3);
});

test("after the last attempt the status of the server is the answer", async () => {
  const { api, seen } = await serve(json(502, { message: { base: ["a", "b"] } }));
  expect(await api.unregister("t")).toMatchObject({ status: 502, message: '{"base":["a","b"]}', wasPutOff: true });
  expect(seen).toHaveLength(3);
});

test("a success without JSON is no answer of the API", async () => {
  const { api } = await serve((response) => void response.writeHead(200, { "content-type": "text/html" }).end("<p>"));
  await expect(api.verify({ token: "t", info })).rejects.toMatchObject({ code: "ANSWER_INVALID" });
});

test("a message that is not as the API has it is no answer either, and is not quoted", async () => {
  const { api } = await serve(json(201, { id: "seven", token: "secret" }));
  const failed = api.requestJob({ token: "t", info });
  await expect(failed).rejects.toMatchObject({
    code: "ANSWER_INVALID",
    message: expect.not.stringContaining("secret"),
  });
});

test("nobody there, or no URL, is an error with a code", async () => {
  const { api } = await serve(plain(204));
  for (const close of closers.splice(0)) close();
  await expect(api.unregister("t")).rejects.toMatchObject({ code: "SERVER_UNREACHABLE" });
  expect(() => connectRunnerApi({ url: "ftp://x", userAgent: "t" })).toThrow("no http or https URL");
});

test("patchTrace() gives what is stored, the state of the job and the interval", async () => {
  const { api, seen } = await serve(
    plain(202, { range: "0-15", "job-status": "running", "x-gitlab-trace-update-interval": "30" }),
    plain(416, { range: "0-3" }),
  );
  const patch = { token: "j", offset: 10, bytes: Buffer.from("hello") };
  expect(await api.patchTrace(7, patch)).toMatchObject({
    status: 202,
    stored: 15,
    jobStatus: "running",
    intervalSeconds: 30,
  });
  expect(await api.patchTrace(7, patch)).toMatchObject({ status: 416, stored: 3 });
  expect(seen[0]).toMatchObject({ method: "PATCH", url: "/sub/api/v4/jobs/7/trace?debug_trace=false", body: "hello" });
  expect(seen[0]?.headers).toMatchObject({ "content-range": "10-14", "job-token": "j", "content-type": "text/plain" });
});

test("updateJob() sends the checksum of the trace, and gives the state", async () => {
  const { api, seen } = await serve(plain(403, { "job-status": "canceled" }));
  const output = { checksum: "crc32:00000000", bytesize: 0 };
  expect(await api.updateJob(7, { token: "j", info, state: "success", output })).toMatchObject({
    status: 403,
    jobStatus: "canceled",
  });
  expect(JSON.parse(seen[0]?.body ?? "")).toMatchObject({ token: "j", state: "success", output });
});

test("uploadArtifact() sends a form in chunks, follows a 307 to another host, and opens the file again", async () => {
  const target = await serve(plain(201));
  const { api, seen } = await serve(plain(307, { location: `${target.url}/elsewhere` }));
  let opened = 0;
  const answer = await api.uploadArtifact(7, {
    token: "j",
    fileName: 'a"b.zip',
    artifact_type: "archive",
    artifact_format: "zip",
    expire_in: "1 week",
    open() {
      opened += 1;
      return Readable.from([Buffer.from("by"), Buffer.from("tes")]);
    },
  });
  expect([answer.status, opened, seen.length]).toEqual([201, 2, 1]);
  const [got] = target.seen;
  expect(got?.url).toBe("/sub/api/v4/jobs/7/artifacts?expire_in=1+week&artifact_format=zip&artifact_type=archive");
  expect(got?.headers["transfer-encoding"]).toBe("chunked");
  expect(got?.body).toMatch(/filename="a_b\.zip"\r\n[^]*\r\n\r\nbytes\r\n--steps-[0-9a-f]{32}--\r\n$/u);
});

test("files go up and down although the server is away for a moment", async () => {
  const away = (response: ServerResponse): void => void response.destroy();
  const up = await serve(away, away, plain(201));
  const file = { token: "j", fileName: "a.zip", artifact_type: "archive", artifact_format: "zip" };
  const upload = { ...file, open: () => Readable.from([Buffer.from("bytes")]) };
  expect(await up.api.uploadArtifact(7, upload)).toMatchObject({ status: 201 });
  expect(up.seen.map(({ body }) => body.includes("bytes"))).toEqual([true, true, true]);
  const down = await serve(away, (response) => void response.writeHead(200).end("zip"));
  const { bytes } = await down.api.downloadArtifact(7, { token: "j" });
  expect(await text(bytes as Readable)).toBe("zip");
});

test("downloadArtifact() follows a redirect, and keeps its token to the host of the API", async () => {
  const target = await serve((response) => void response.writeHead(200).end("zip"));
  const { api, seen } = await serve(plain(302, { location: `${target.url}/bucket?signature=x` }));
  const { status, bytes } = await api.downloadArtifact(7, { token: "j" });
  expect([status, await text(bytes as Readable)]).toEqual([200, "zip"]);
  expect(seen[0]?.headers["job-token"]).toBe("j");
  expect(target.seen[0]?.headers).not.toHaveProperty("job-token");
});

test("downloadArtifact() gives the status of a refusal", async () => {
  const { api, seen } = await serve(json(404, { message: "404 Not found" }));
  expect(await api.downloadArtifact(7, { token: "j" })).toMatchObject({
    status: 404,
    bytes: undefined,
    message: "404 Not found",
  });
  expect(seen).toHaveLength(1);
});
