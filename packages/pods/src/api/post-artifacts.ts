import { messageOf } from "@steps/model";
import { ARTIFACT_FORMATS, readArtifactOptions } from "@steps/runner-api/artifacts";
import { parseExpiry } from "../artifacts/expiry.ts";
import {
  type ArtifactFacts,
  keepArtifact,
  MAX_ARTIFACTS,
  objectName,
  type StoredFile,
} from "../artifacts/keep-artifact.ts";
import { parseDotenv } from "../artifacts/parse-dotenv.ts";
import { type ReceivedFile, receiveFile } from "../artifacts/receive-file.ts";
import type { Exchange } from "../http/exchange.ts";
import { HttpError } from "../http/http-error.ts";
import type { Job } from "../jobs/job.ts";
import type { Pod } from "../pod/pod.ts";
import { accessJob, forbidden } from "./job-access.ts";

/** How long artifacts are kept about which nothing is said: 30 days, as on GitLab. */
const DEFAULT_EXPIRY = 30 * 86_400;

/** `POST /jobs/:id/artifacts`: takes a file of the job, as it comes. */
export async function postArtifacts(pod: Pod, exchange: Exchange, jobId: number): Promise<void> {
  const { job } = await accessJob(pod, exchange, { jobId, scope: "artifacts:write" });
  const { artifactLimit } = pod.settings;
  if (Number(exchange.headers["content-length"] ?? 0) > artifactLimit + 65_536)
    throw new HttpError(413, `413 Request Entity Too Large: an artifact has at most ${artifactLimit} bytes`);
  const object = objectName(job);
  const writer = await pod.artifacts.begin(object);
  try {
    const file = await receiveFile(exchange.request, writer, artifactLimit);
    const facts = factsOf(exchange, file);
    await writer.keep();
    await take(pod, job, { ...file, object }, facts);
    pod.metrics.add("artifact_bytes_total", {}, file.size);
  } catch (error) {
    await writer.discard();
    throw error;
  }
  exchange.json(201, {});
}

function factsOf(exchange: Exchange, file: ReceivedFile): ArtifactFacts {
  const options = readArtifactOptions(Object.fromEntries(exchange.query), file.fields);
  const { artifact_type: type, artifact_format: format, expire_in: expiry } = options;
  if (!/^[a-z][a-z0-9_]{0,60}$/.test(type)) throw new HttpError(400, "400 Bad Request: artifact_type");
  if (!(ARTIFACT_FORMATS as readonly string[]).includes(format))
    throw new HttpError(400, "400 Bad Request: artifact_format");
  const expiresIn = expiry === undefined ? DEFAULT_EXPIRY : parseExpiry(expiry);
  if (expiresIn === undefined) throw new HttpError(400, "400 Bad Request: expire_in");
  const variables = type === "dotenv" ? parseDotenv(file, format) : undefined;
  return { type, format, expiresIn, variables };
}

async function take(pod: Pod, job: Job, file: StoredFile, facts: ArtifactFacts): Promise<void> {
  const kept = await keepArtifact(pod.database, job, file, facts);
  if (kept !== "kept") {
    await pod.artifacts.remove(file.object).catch((error: unknown) => {
      pod.settings.log("warning", "A file that is no artifact is left", {
        object: file.object,
        reason: messageOf(error),
      });
    });
  }
  if (kept === "superseded") throw forbidden("canceled");
  if (kept === "other") throw new HttpError(400, "400 Bad Request: another artifact of this type is there already");
  if (kept === "too many")
    throw new HttpError(400, `400 Bad Request: a job has at most ${MAX_ARTIFACTS} artifacts of different types`);
}
