import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { chmod, unlink } from "node:fs/promises";
import { basename } from "node:path";
import { scopePart } from "../auth/runtime-token.ts";
import type { Blobs } from "../blob/blob-routes.ts";
import type { Route } from "../http/context.ts";
import { badRequest, conflict, HttpError, notFound, tooLarge } from "../http/http-error.ts";
import type { ServiceLimits } from "../options.ts";
import type { BlockUpload } from "../store/block-upload.ts";
import { createBlockUpload } from "../store/block-upload.ts";
import type { Budget } from "../store/budget.ts";
import type { WorkFolder } from "../store/work-folder.ts";
import type { Message } from "../twirp/message.ts";
import { textField } from "../twirp/message.ts";
import { twirpRoutes } from "../twirp/twirp.ts";
import { checkArtifactName } from "./artifact-name.ts";
import type { ArtifactRegistry, StoredArtifact } from "./artifact-registry.ts";
import { moveToFreeName } from "./artifact-registry.ts";
import * as types from "./artifact-v4-messages.ts";

const ZIP = "application/zip";
/** Artifacts are for others to read; what is saved in a cache is not. */
const PUBLIC_FILE = 0o644;
const ZIP_TYPES = new Set([ZIP, "application/x-zip-compressed", "application/zip-compressed", "zip"]);

export interface ArtifactParts {
  readonly dir: string;
  readonly work: WorkFolder;
  readonly budget: Budget;
  readonly registry: ArtifactRegistry;
  readonly limits: ServiceLimits;
  readonly runId: string;
  readonly jobId: string;
}

interface Pending {
  readonly mimeType: string;
  readonly upload: BlockUpload;
}

export interface ArtifactProtocol {
  readonly routes: readonly Route[];
  /** Gives up uploads that nobody has written to for long. */
  readonly prune: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * The second protocol of artifacts: the Twirp service `ArtifactService`, with uploads and downloads at signed URLs. Used
 * by actions/upload-artifact from v4 on.
 */
export function createArtifactV4(parts: ArtifactParts, blobs: Blobs): ArtifactProtocol {
  const pending = new Map<string, Pending | "busy">();
  const drop = async (name: string, one: Pending): Promise<void> => {
    if (pending.get(name) === one) pending.delete(name);
    await one.upload.discard();
  };
  const prune = async (): Promise<void> => {
    for (const [name, one] of pending) {
      if (one === "busy" || one.upload.isBusy()) continue;
      if (Date.now() - one.upload.touchedAtMs() > parts.limits.reservationMs) await drop(name, one);
    }
  };
  const create = async (message: Message): Promise<Message> => {
    const name = ownName(parts, message);
    const mimeType = checkedType(textField(message, "mime_type"));
    await prune();
    if (pending.has(name) || parts.registry.find("v4", name) !== undefined) {
      throw conflict("an artifact with this name already exists on the workflow run");
    }
    if (pending.size >= parts.limits.maxOpenUploads) throw tooLarge("Too many uploads are under way");
    pending.set(name, "busy");
    try {
      const dir = await parts.work.makeDir();
      const options = { dir, maxBytes: parts.limits.maxArtifactBytes, budget: parts.budget };
      const upload = await createBlockUpload(options);
      pending.set(name, { mimeType, upload });
      return { ok: true, signed_upload_url: blobs.linkToUpload(upload) };
    } catch (error) {
      pending.delete(name);
      throw error;
    }
  };
  const finalize = async (message: Message): Promise<Message> => {
    const name = ownName(parts, message);
    const one = pending.get(name);
    if (one === undefined || one === "busy") throw notFound("No upload is under way for an artifact of this name");
    if (one.upload.isBusy()) throw new HttpError(409, "failed_precondition", "The upload is still being written");
    // Nobody else may end it, or begin another of this name, meanwhile.
    pending.set(name, "busy");
    try {
      const artifact = await publish(parts, { name, mimeType: one.mimeType, upload: one.upload, message });
      return { ok: true, artifact_id: String(artifact.id) };
    } finally {
      pending.delete(name);
      await one.upload.discard();
    }
  };
  return {
    prune,
    close: async () => {
      for (const [name, one] of pending) if (one !== "busy") await drop(name, one);
    },
    routes: twirpRoutes("github.actions.results.api.v1.ArtifactService", {
      CreateArtifact: { request: types.CREATE_REQUEST, response: types.CREATE_RESPONSE, handle: create },
      FinalizeArtifact: { request: types.FINALIZE_REQUEST, response: types.ID_RESPONSE, handle: finalize },
      ListArtifacts: {
        request: types.LIST_REQUEST,
        response: types.LIST_RESPONSE,
        handle: async (message) => ({ artifacts: list(parts, message) }),
      },
      GetSignedArtifactURL: {
        request: types.NAME_REQUEST,
        response: types.URL_RESPONSE,
        handle: async (message) => ({ signed_url: linkTo(blobs, stored(parts, message)) }),
      },
      DeleteArtifact: {
        request: types.NAME_REQUEST,
        response: types.ID_RESPONSE,
        handle: async (message) => {
          const artifact = stored(parts, message);
          parts.registry.remove(artifact);
          // It may have been removed by hand.
          await unlink(artifact.path).catch(() => undefined);
          parts.budget.giveBack(artifact.bytes);
          return { ok: true, artifact_id: String(artifact.id) };
        },
      },
    }),
  };
}

/** The name in a request, which must be about this run: no other run's artifacts are here. */
function ownName(parts: ArtifactParts, message: Message): string {
  checkRun(parts, message);
  const name = textField(message, "name") ?? "";
  checkArtifactName(name);
  return name;
}

function checkRun({ runId }: ArtifactParts, message: Message): void {
  const asked = textField(message, "workflow_run_backend_id") ?? "";
  if (asked !== "" && asked !== scopePart(runId)) {
    throw new HttpError(403, "permission_denied", "The token is for another run");
  }
}

function stored(parts: ArtifactParts, message: Message): StoredArtifact {
  const artifact = parts.registry.find("v4", ownName(parts, message));
  if (artifact === undefined) throw notFound("There is no artifact of this name");
  return artifact;
}

function list(parts: ArtifactParts, message: Message): readonly Message[] {
  checkRun(parts, message);
  const [name, id] = [textField(message, "name_filter"), textField(message, "id_filter")];
  return parts.registry
    .all()
    .filter((artifact) => artifact.protocol === "v4")
    .filter(
      (artifact) => (name ?? artifact.name) === artifact.name && (id ?? String(artifact.id)) === String(artifact.id),
    )
    .map((artifact) => ({
      workflow_run_backend_id: scopePart(parts.runId),
      workflow_job_run_backend_id: scopePart(parts.jobId),
      database_id: String(artifact.id),
      name: artifact.name,
      size: String(artifact.bytes),
      created_at: new Date(artifact.createdAtMs).toISOString(),
      digest: artifact.digest,
    }));
}

function linkTo(blobs: Blobs, artifact: StoredArtifact): string {
  return blobs.linkToDownload({
    path: artifact.path,
    size: artifact.bytes,
    answer: {
      type: artifact.mimeType ?? ZIP,
      fileName: basename(artifact.path),
      etag: artifact.digest ?? String(artifact.id),
      modifiedAtMs: artifact.createdAtMs,
    },
  });
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
