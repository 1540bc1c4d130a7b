import { Readable } from "node:stream";
import { HttpError } from "../../http/http-error.ts";
import type { ArtifactStore } from "./artifact-store.ts";
import { S3Bucket } from "./s3-bucket.ts";
import { ArtifactStoreError, type S3Settings } from "./s3-settings.ts";
import { S3Writer } from "./s3-writer.ts";

const MIB = 1024 * 1024;
const MAX_PARTS = 10_000;
const TIMEOUT_MS = 60_000;
/** How often a look is taken for uploads that were abandoned. */
const TIDY_EVERY_MS = 3_600_000;
/** An upload that began so long ago has no process any more. */
const ABANDONED_MS = 24 * 3_600_000;

/** How an S3-compatible store is used. */
export interface S3Options {
  /** The most bytes of one artifact. */
  readonly maxBytes: number;
  /** Milliseconds for one request. Default: one minute. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Artifacts in a bucket of an S3-compatible store. An upload holds one part in memory, 8 MiB for artifacts of at most 80 GiB, and
 * is complete or not there.
 */
export function s3Store(settings: S3Settings, { maxBytes, timeoutMs = TIMEOUT_MS }: S3Options): ArtifactStore {
  const bucket = new S3Bucket(settings, timeoutMs);
  let tidiedAt = 0;
  const partBytes = Math.max(8 * MIB, Math.ceil(maxBytes / MAX_PARTS));
  return {
    begin: (object) => Promise.resolve(new S3Writer(bucket, object, partBytes)),
    async read(object, range, signal) {
      const headers: Record<string, string> = range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` };
      const reply = await bucket.open({ method: "GET", object, headers, accepts: [404], signal });
      if (reply.status !== 404 && reply.body !== null) return Readable.fromWeb(reply.body, { signal });
      await reply.body?.cancel();
      throw new HttpError(404, "404 Not found");
    },
    async link(object, filename) {
      if (!settings.redirects) return undefined;
      const disposition = `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`;
      return await bucket.link(object, { "content-disposition": disposition });
    },
    async remove(object) {
      await bucket.send({ method: "DELETE", object, accepts: [404] });
    },
    async tidy() {
      if (Date.now() - tidiedAt < TIDY_EVERY_MS) return;
      tidiedAt = Date.now();
      const query = { uploads: "", prefix: `${settings.prefix}objects/` };
      const { text } = await bucket.send({ method: "GET", query });
      for (const [, upload = ""] of text.matchAll(/<Upload>(.*?)<\/Upload>/gsu)) {
        const object = field(upload, "Key").slice(settings.prefix.length);
        const uploadId = field(upload, "UploadId");
        const begun = Date.parse(field(upload, "Initiated"));
        if (!object.startsWith("objects/") || uploadId === "" || !(begun < Date.now() - ABANDONED_MS)) continue;
        await bucket.send({ method: "DELETE", object, query: { uploadId }, accepts: [404] });
      }
    },
  };
}

/**
 * Whether the bucket is there, as far as its credentials may know. One that does not answer now may do so later.
 *
 * @throws {ArtifactStoreError} ARTIFACT_STORE_INVALID for a bucket that does not exist, and credentials that nobody knows
 */
export async function checkS3(settings: S3Settings): Promise<void> {
  const bucket = new S3Bucket(settings, 10_000);
  const query = { "list-type": "2", "max-keys": "1", prefix: settings.prefix };
  const reply = await bucket.send({ method: "GET", query, accepts: [403, 404] });
  const code = field(reply.text, "Code");
  if (reply.status === 404 || WRONG.has(code))
    throw new ArtifactStoreError(
      "ARTIFACT_STORE_INVALID",
      `The store of artifacts refuses ${settings.bucket}: ${code}`,
    );
}

const WRONG: ReadonlySet<string> = new Set(["NoSuchBucket", "InvalidAccessKeyId", "SignatureDoesNotMatch"]);

function field(text: string, name: string): string {
  return new RegExp(`<${name}>([^<]*)</${name}>`, "u").exec(text)?.[1] ?? "";
}
