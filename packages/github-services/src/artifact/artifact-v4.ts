import { unlink } from "node:fs/promises";
import { basename } from "node:path";
import { scopePart } from "../auth/runtime-token.ts";
import type { Blobs } from "../blob/blob-routes.ts";
import { HttpError, notFound } from "../http/http-error.ts";
import type { Message } from "../twirp/message.ts";
import { textField } from "../twirp/message.ts";
import { twirpRoutes } from "../twirp/twirp.ts";
import { checkArtifactName } from "./artifact-name.ts";
import type { ArtifactParts, ArtifactProtocol } from "./artifact-protocol.ts";
import type { StoredArtifact } from "./artifact-registry.ts";
import { ArtifactUploads, ZIP } from "./artifact-uploads.ts";
import * as types from "./artifact-v4-messages.ts";

/**
 * The second protocol of artifacts: the Twirp service `ArtifactService`, with uploads and downloads at signed URLs. Used
 * by actions/upload-artifact from v4 on.
 */
export function createArtifactV4(parts: ArtifactParts, blobs: Blobs): ArtifactProtocol {
  const uploads = new ArtifactUploads(parts);
  return {
    prune: () => uploads.prune(),
    close: () => uploads.close(),
    routes: twirpRoutes("github.actions.results.api.v1.ArtifactService", {
      CreateArtifact: {
        request: types.CREATE_REQUEST,
        response: types.CREATE_RESPONSE,
        handle: async (message) => {
          const upload = await uploads.begin(ownName(parts, message), message);
          return { ok: true, signed_upload_url: blobs.linkToUpload(upload) };
        },
      },
      FinalizeArtifact: {
        request: types.FINALIZE_REQUEST,
        response: types.ID_RESPONSE,
        handle: async (message) => {
          const { id } = await uploads.finish(ownName(parts, message), message);
          return { ok: true, artifact_id: String(id) };
        },
      },
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
          await remove(parts, artifact);
          return { ok: true, artifact_id: String(artifact.id) };
        },
      },
    }),
  };
}

async function remove({ registry, budget }: ArtifactParts, artifact: StoredArtifact): Promise<void> {
  registry.remove(artifact);
  // It may have been removed by hand.
  await unlink(artifact.path).catch(() => undefined);
  budget.giveBack(artifact.bytes);
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
