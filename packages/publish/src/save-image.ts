import { BuildError } from "./build-error.ts";
import { createWriteStream } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isDigest, type ImageName } from "@steps/model/image";
import { sha256 } from "@steps/platform";
import { DEFAULT_LIMITS, type HttpAnswer, readBody, statusError } from "@steps/transfer";
import {
  ACCEPTED_MANIFESTS,
  type Descriptor,
  MAX_MANIFEST_BYTES,
  OCI_INDEX,
  openImage,
  openRegistry,
  parseManifest,
  parseObject,
  type RegistryClient,
} from "@steps/transfer/registry";

export interface SaveOptions {
  readonly image: ImageName;
  /** An empty private folder. */
  readonly dir: string;
  /** The environment in which credentials are looked for. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal;
}

interface Saving {
  readonly client: RegistryClient;
  readonly dir: string;
  readonly shown: string;
  readonly signal: AbortSignal | undefined;
  /** Blobs that are here: platforms share some. */
  readonly saved: Set<string>;
  /** How many bytes may still come. */
  roomBytes: number;
}

/**
 * Copies an image with all its platforms from a registry to a folder in the OCI layout, byte for byte. Whoever reads the
 * layout checks the digests.
 *
 * @throws {BuildError} REFERENCE_NOT_FOUND, DIGEST_MISMATCH, ARCHIVE_INVALID, ARCHIVE_TOO_LARGE, AUTH_FAILED, TRANSPORT
 */
export async function saveImage({ image, dir, env, signal }: SaveOptions): Promise<void> {
  const { endpoint, shown } = openImage({ ...image }, {});
  const client = openRegistry({ env }, endpoint, { stepEnv: {}, actions: "pull" });
  const saving: Saving = { client, dir, shown, signal, saved: new Set(), roomBytes: DEFAULT_LIMITS.maxDownloadBytes };
  const top = await saveManifest(saving, { reference: image.tag, depth: 0 });
  const index = { schemaVersion: 2, mediaType: OCI_INDEX, manifests: [top] };
  await writeFile(join(dir, "index.json"), JSON.stringify(index));
  await writeFile(join(dir, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
}

async function saveManifest(
  saving: Saving,
  { reference, depth }: { readonly reference: string; readonly depth: number },
): Promise<Pick<Descriptor, "mediaType" | "digest" | "size">> {
  const { client, shown, signal } = saving;
  if (depth > 3) throw new BuildError("ARCHIVE_INVALID", `Cannot fetch "${shown}": its indexes lie too deep`);
  const path = `${client.endpoint.repository}/manifests/${reference}`;
  const answer = await client.send({ path, headers: { accept: ACCEPTED_MANIFESTS }, signal });
  await refuseStatus(saving, answer);
  const chunks: Uint8Array[] = [];
  for await (const chunk of readBody(answer, { maxBytes: MAX_MANIFEST_BYTES, signal })) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const digest = reference.startsWith("sha512:") ? reference : `sha256:${sha256(bytes)}`;
  if (isDigest(reference) && reference !== digest) {
    throw new BuildError(
      "DIGEST_MISMATCH",
      `Cannot use image "${shown}": what came has the digest ${digest}, expected ${reference}`,
    );
  }
  const text = bytes.toString("utf8");
  const sent = answer.response.headers.get("content-type") ?? undefined;
  const manifest = sent === undefined ? parseManifest(text) : parseManifest(text, sent);
  if (manifest.type === "index") {
    for (const child of manifest.manifests) await saveManifest(saving, { reference: child.digest, depth: depth + 1 });
  } else {
    for (const blob of [manifest.config, ...manifest.layers]) await saveBlob(saving, blob);
  }
  await writeBlob(saving, digest, Readable.from([bytes]));
  const stated = parseObject(text)["mediaType"];
  const mediaType = typeof stated === "string" ? stated : (sent ?? "").replace(/;.*$/, "").trim();
  return { mediaType, digest, size: bytes.byteLength };
}

async function saveBlob(saving: Saving, { digest, size }: Descriptor): Promise<void> {
  const { client, shown, signal } = saving;
  if (saving.saved.has(digest)) return;
  saving.saved.add(digest);
  saving.roomBytes -= size;
  if (saving.roomBytes < 0) {
    const { maxDownloadBytes } = DEFAULT_LIMITS;
    throw new BuildError("ARCHIVE_TOO_LARGE", `Cannot fetch "${shown}": it is larger than ${maxDownloadBytes} bytes`);
  }
  const answer = await client.send({ path: `${client.endpoint.repository}/blobs/${digest}`, signal });
  await refuseStatus(saving, answer);
  await writeBlob(saving, digest, readBody(answer, { maxBytes: size, signal }));
}

async function writeBlob({ dir }: Saving, digest: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  const [algorithm = "", hex = ""] = digest.split(":");
  const path = join(dir, "blobs", algorithm, hex);
  await mkdir(dirname(path), { recursive: true });
  await pipeline(content, createWriteStream(path, { mode: 0o600 }));
}

async function refuseStatus({ shown }: Saving, answer: HttpAnswer): Promise<void> {
  const failure = statusError(shown, answer.response.status);
  if (failure === undefined) return;
  await answer.response.body?.cancel();
  if (failure.code !== "REPOSITORY_NOT_FOUND") throw failure;
  throw new BuildError("REFERENCE_NOT_FOUND", `Cannot find image "${shown}"`);
}
