import { findArtifact } from "../artifacts/find-artifact.ts";
import { sendArtifact } from "../artifacts/send-artifact.ts";
import type { Exchange } from "../http/exchange.ts";
import { HttpError } from "../http/http-error.ts";
import type { Pod } from "../pod/pod.ts";
import { accessJob } from "./job-access.ts";

/** `GET /jobs/:id/artifacts`: sends the archive of the job, or of one whose artifacts the job of the token gets. */
export async function getArtifacts(pod: Pod, exchange: Exchange, jobId: number): Promise<void> {
  await accessJob(pod, exchange, { jobId, scope: "artifacts:read" });
  const artifact = await findArtifact(pod.database, jobId, "archive");
  if (artifact === undefined) throw new HttpError(404, "404 Not found");
  await sendArtifact(exchange, pod.artifacts, artifact);
}
