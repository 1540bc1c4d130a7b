import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod } from "node:fs/promises";
import { badRequest, conflict, HttpError, notFound, tooLarge } from "../http/http-error.ts";
import type { BlockUpload } from "../store/block-upload.ts";
import { createBlockUpload } from "../store/block-upload.ts";
import type { Message } from "../twirp/message.ts";
import { textField } from "../twirp/message.ts";
import type { ArtifactParts } from "./artifact-protocol.ts";
import { moveToFreeName, type StoredArtifact } from "./artifact-registry.ts";

/** The type of what is packed. */
export const ZIP = "application/zip";
const ZIP_TYPES = new Set([ZIP, "application/x-zip-compressed", "application/zip-compressed", "zip"]);
/** Artifacts are for others to read; what is saved in a cache is not. */
const PUBLIC_FILE = 0o644;

interface Pending {
  readonly mimeType: string;
  readonly upload: BlockUpload;
}

/** The artifacts of one job that are being uploaded, by their names. */
export class ArtifactUploads {
  readonly #parts: ArtifactParts;
  readonly #pending = new Map<string, Pending | "busy">();

  constructor(parts: ArtifactParts) {
    this.#parts = parts;
  }

  /** Begins the upload of an artifact. 409 when there is one of its name. */
  async begin(name: string, message: Message): Promise<BlockUpload> {
    const { registry, limits, work, budget } = this.#parts;
    const mimeType = checkedType(textField(message, "mime_type"));
    await this.prune();
    if (this.#pending.has(name) || registry.find("v4", name) !== undefined) {
      throw conflict("an artifact with this name already exists on the workflow run");
    }
    if (this.#pending.size >= limits.maxOpenUploads) throw tooLarge("Too many uploads are under way");
    this.#pending.set(name, "busy");
    try {
      const upload = await createBlockUpload({ dir: await work.makeDir(), maxBytes: limits.maxArtifactBytes, budget });
      this.#pending.set(name, { mimeType, upload });
      return upload;
    } catch (error) {
      this.#pending.delete(name);
      throw error;
    }
  }

  /** Makes the upload of a name an artifact, which nobody can change any more. */
  async finish(name: string, message: Message): Promise<StoredArtifact> {
    const one = this.#pending.get(name);
    if (one === undefined || one === "busy") throw notFound("No upload is under way for an artifact of this name");
    if (one.upload.isBusy()) throw new HttpError(409, "failed_precondition", "The upload is still being written");
    // Nobody else may end it, or begin another of this name, meanwhile.
    this.#pending.set(name, "busy");
    try {
      return await publish(this.#parts, { name, mimeType: one.mimeType, upload: one.upload, message });
    } finally {
      this.#pending.delete(name);
      await one.upload.discard();
    }
  }

  /** Gives up uploads that nobody has written to for long. */
  async prune(): Promise<void> {
    for (const [name, one] of this.#pending) {
      if (one === "busy" || one.upload.isBusy()) continue;
      if (Date.now() - one.upload.touchedAtMs() > this.#parts.limits.reservationMs) await this.#drop(name, one);
    }
  }

  /** Gives up all uploads. */
  async close(): Promise<void> {
    for (const [name, one] of this.#pending) if (one !== "busy") await this.#drop(name, one);
  }

  async #drop(name: string, one: Pending): Promise<void> {
    if (this.#pending.get(name) === one) this.#pending.delete(name);
    await one.upload.discard();
  }
}

async function publish(
  parts: ArtifactParts,
  of: { readonly name: string; readonly mimeType: string; readonly upload: BlockUpload; readonly message: Message },
): Promise<StoredArtifact> {
  const size = Number(textField(of.message, "size") ?? "0");
  if (!Number.isSafeInteger(size)) throw badRequest("The size is not a size");
  const id = parts.registry.nextId();
  const file = await of.upload.seal(size);
  const digest = await digestOfFile(file.path);
  const expected = textField(of.message, "hash");
  if (expected !== undefined && expected.toLowerCase() !== digest) {
    throw badRequest(`The upload is ${digest}, not what its sender says`);
  }
  await chmod(file.path, PUBLIC_FILE);
  const path = await moveToFreeName(file.path, parts.dir, fileName(of.name, of.mimeType));
  of.upload.handOver();
  const { name, mimeType } = of;
  const protocol = "v4";
  const artifact = { id, name, protocol, path, bytes: file.size, digest, mimeType, createdAtMs: Date.now() } as const;
  parts.registry.put(artifact);
  return artifact;
}

/** `NAME.zip` for what is packed, also by clients that do not say so; a single file has its own name. */
function fileName(name: string, mimeType: string): string {
  return mimeType === ZIP && !name.toLowerCase().endsWith(".zip") ? `${name}.zip` : name;
}

/** The type as it may stand in a header. */
function checkedType(mimeType: string | undefined): string {
  if (mimeType === undefined || mimeType === "" || ZIP_TYPES.has(mimeType.toLowerCase())) return ZIP;
  if (!/^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:; ?[\w-]+=[\w.-]+)*$/.test(mimeType))
    throw badRequest("The type is malformed");
  return mimeType;
}

async function digestOfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 ** 2 })) hash.update(chunk as Buffer);
  return `sha256:${hash.digest("hex")}`;
}
