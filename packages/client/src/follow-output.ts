import { Code, ConnectError } from "@connectrpc/connect";
import { type Job, Job_JobStatus } from "@steps/proto/service";
import { ClientError } from "./client-error.ts";
import type { FollowOptions } from "./follow-options.ts";
import type { Link } from "./link.ts";
import type { Offsets, OutputPiece, ServiceClient } from "./service-client.ts";

/** The caller's own function failed: neither the service nor the connection is to blame, and nothing is done again. */
class SinkFailure extends Error {}

/** How a job's output was followed to its end. */
export interface FollowedOutput {
  readonly job: Job;
  readonly offsets: Offsets;
}

/**
 * Gives the job's output to the caller, each byte once, whatever becomes of the connection, and waits for the job's end.
 * An offset counts only what the caller has taken, so what was under way when the connection was lost is read again.
 */
export async function followOutput(link: Link, id: string, options: FollowOptions): Promise<FollowedOutput> {
  const offsets = { stdout: options.resume?.stdout ?? 0, stderr: options.resume?.stderr ?? 0 };
  try {
    const job = await link.use(async (service, progress) => {
      for await (const piece of service.followIO(id, offsets)) {
        if (piece.bytes.length === 0) continue;
        if (service.server.instance !== "") checkOffset(id, piece, offsets);
        const taken = take(piece, offsets, options);
        if (taken !== undefined) await taken;
        progress();
      }
      return endedJob(service, id);
    });
    return { job, offsets };
  } catch (error) {
    throw error instanceof SinkFailure ? error.cause : error;
  }
}

// A service that does not say who it is may not say where it is either.
function checkOffset(id: string, { stream, offset }: OutputPiece, offsets: Offsets): void {
  if (offset === offsets[stream]) return;
  throw new ClientError(
    "LOG_DAMAGED",
    `The service sent byte ${offset} of ${stream} of job "${id}" where byte ${offsets[stream]} was due`,
  );
}

function take(
  { stream, bytes }: OutputPiece,
  offsets: { stdout: number; stderr: number },
  { onOutput, onOffsets }: FollowOptions,
): void | Promise<void> {
  const count = (): void | Promise<void> => {
    offsets[stream] += bytes.length;
    return onOffsets?.({ ...offsets });
  };
  try {
    const taken = onOutput?.(stream, bytes);
    const noted = taken === undefined ? count() : taken.then(count);
    return noted?.catch(failSink);
  } catch (error) {
    failSink(error);
  }
}

function failSink(cause: unknown): never {
  throw new SinkFailure("", { cause });
}

/** The log has ended, so the job has; a service that says otherwise is asked again. */
async function endedJob(service: ServiceClient, id: string): Promise<Job> {
  const [job] = await service.list([id]);
  if (job === undefined) throw new ConnectError("The job is not in the list", Code.NotFound);
  if (job.status === Job_JobStatus.running)
    throw new ConnectError("The log ended before the job did", Code.Unavailable);
  return job;
}
