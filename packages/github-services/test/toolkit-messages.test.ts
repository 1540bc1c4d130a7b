import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import * as artifact from "../src/artifact/artifact-v4-messages.ts";
import { messageFromBinary, messageToBinary } from "../src/twirp/binary-message.ts";
import { messageFromJson, messageToJson } from "../src/twirp/json-message.ts";
import type { Message, MessageType } from "../src/twirp/message.ts";
import { openServices } from "./fixtures.ts";
import { openWire } from "./wire.ts";

/** A message class as protobuf-ts generates it. */
interface Generated {
  readonly create: (value: object) => object;
  readonly toBinary: (message: object) => Uint8Array;
  readonly fromBinary: (bytes: Uint8Array) => object;
  readonly toJson: (message: object, options?: object) => unknown;
  readonly fromJson: (json: unknown) => object;
}

/** Loads the code that the client's own package generated from GitHub's schema. */
async function generated(client: "artifact" | "cache"): Promise<Record<string, Generated>> {
  const main = fileURLToPath(import.meta.resolve(`@actions/${client}`));
  const path = join(dirname(main), "generated", "results", "api", "v1", `${client}.js`);
  return (await import(pathToFileURL(path).href)) as Record<string, Generated>;
}

const time = { seconds: "1700000000", nanos: 250_000_000 };
const run = { workflowRunBackendId: "17", workflowJobRunBackendId: "build" };
const ours = { workflow_run_backend_id: "17", workflow_job_run_backend_id: "build" };

test.each<[string, MessageType, object, Message]>([
  [
    "CreateArtifactRequest",
    artifact.CREATE_REQUEST,
    { ...run, name: "ü", mimeType: { value: "a/b" } },
    { ...ours, name: "ü", mime_type: "a/b" },
  ],
  [
    "CreateArtifactResponse",
    artifact.CREATE_RESPONSE,
    { ok: true, signedUploadUrl: "u" },
    { ok: true, signed_upload_url: "u" },
  ],
  [
    "FinalizeArtifactRequest",
    artifact.FINALIZE_REQUEST,
    { ...run, name: "a", size: "9007199254740993", hash: { value: "h" } },
    { ...ours, name: "a", size: "9007199254740993", hash: "h" },
  ],
  ["FinalizeArtifactResponse", artifact.ID_RESPONSE, { ok: true, artifactId: "7" }, { ok: true, artifact_id: "7" }],
  [
    "ListArtifactsRequest",
    artifact.LIST_REQUEST,
    { ...run, nameFilter: { value: "a" }, idFilter: { value: "300" } },
    { ...ours, name_filter: "a", id_filter: "300" },
  ],
  ["GetSignedArtifactURLRequest", artifact.NAME_REQUEST, { ...run, name: "a" }, { ...ours, name: "a" }],
  ["GetSignedArtifactURLResponse", artifact.URL_RESPONSE, { signedUrl: "u" }, { signed_url: "u" }],
])("%s is what the client's generated code makes of it", async (name, type, theirs, message) => {
  const codec = (await generated("artifact"))[name];
  if (codec === undefined) throw new TypeError(`No message ${name}`);
  const value = codec.create(theirs);
  expect(messageFromBinary(type, Buffer.from(codec.toBinary(value)))).toEqual(message);
  expect(codec.fromBinary(messageToBinary(type, message))).toEqual(value);
  for (const useProtoFieldName of [true, false]) {
    expect(messageFromJson(type, codec.toJson(value, { useProtoFieldName }) as Record<string, unknown>)).toEqual(
      message,
    );
  }
  expect(codec.fromJson(messageToJson(type, message))).toEqual(value);
});

test("a list of artifacts is what the client's generated code makes of it", async () => {
  const { ListArtifactsResponse: codec } = await generated("artifact");
  const item = { ...run, databaseId: "7", name: "a", size: "5", createdAt: time, digest: { value: "d" } };
  const created_at = new Date(1_700_000_000_250).toISOString();
  const message = { artifacts: [{ ...ours, database_id: "7", name: "a", size: "5", created_at, digest: "d" }] };
  const value = codec?.create({ artifacts: [item, { ...run }] });
  const both = { artifacts: [...message.artifacts, { ...ours }] };
  expect(codec?.fromBinary(messageToBinary(artifact.LIST_RESPONSE, both))).toEqual(value);
  expect(codec?.fromJson(messageToJson(artifact.LIST_RESPONSE, both))).toEqual(value);
});

test("caches can be saved and found in protobuf, as clients in other languages do", async () => {
  const wire = openWire(await openServices());
  const codecs = await generated("cache");
  const call = async (method: string, request: object): Promise<Record<string, unknown>> => {
    const [ask, answer] = [codecs[`${method}Request`], codecs[`${method}Response`]];
    if (ask === undefined || answer === undefined) throw new TypeError(`No method ${method}`);
    const reply = await wire.send("POST", `twirp/github.actions.results.api.v1.CacheService/${method}`, {
      headers: { "Content-Type": "application/protobuf" },
      body: Buffer.from(ask.toBinary(ask.create(request))),
    });
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "application/protobuf"]);
    return answer.fromBinary(reply.bytes) as Record<string, unknown>;
  };
  const metadata = { repositoryId: "1", scope: [{ scope: "refs/heads/main", permission: "3" }] };
  const created = await call("CreateCacheEntry", { metadata, key: "k-1", version: "v" });
  await wire.send("PUT", String(created["signedUploadUrl"]), { body: "content" });
  const finish = { metadata, key: "k-1", version: "v", sizeBytes: "7" };
  expect(await call("FinalizeCacheEntryUpload", finish)).toMatchObject({ ok: true, entryId: "1" });
  const found = await call("GetCacheEntryDownloadURL", { key: "none", restoreKeys: ["x", "k-"], version: "v" });
  expect(found).toMatchObject({ ok: true, matchedKey: "k-1" });
  expect((await wire.send("GET", String(found["signedDownloadUrl"]))).text).toBe("content");
  expect(await call("GetCacheEntryDownloadURL", { key: "none", version: "v" })).toMatchObject({ ok: false });
});
