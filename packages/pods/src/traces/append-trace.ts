import { traceCrc } from "@steps/runner-api/trace";
import type { Sql } from "../database/database.ts";
import { findJob, type Job, isInHand, type JobState } from "../jobs/job.ts";
import type { TraceStore } from "./trace-store.ts";

/** The answer to a patch of a trace: 202, 416 when it does not fit what is there, 403 to stop. */
export interface PatchAnswer {
  readonly status: 202 | 403 | 416;
  /** The number of bytes that the pod has. */
  readonly size: number;
  readonly state: JobState;
}

/** How often the trace may change between a look and an append before the runner has to try again itself. */
const ATTEMPTS = 5;

/**
 * Puts the bytes of a patch where they belong. What is there already is compared and not stored again, so that a patch whose answer
 * was lost may come once more; a gap, or other bytes than those that are there, make it 416 with the size to go on from.
 */
export async function appendTrace(
  sql: Sql,
  store: TraceStore,
  job: Job,
  patch: { readonly start: number; readonly bytes: Buffer },
): Promise<PatchAnswer> {
  let current = job;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const size = current.trace_size;
    if (current.attempt !== job.attempt || !isInHand(current.state)) return answer(403, size, current.state);
    const rest = await restOf(store, current, patch);
    if (rest === undefined) return answer(416, size, current.state);
    if (rest.length === 0) return answer(202, size, current.state);
    const state = await store.append({ ...current, bytes: rest, crc: traceCrc(rest, current.trace_crc) });
    if (state !== undefined) return answer(202, size + rest.length, state);
    current = (await findJob(sql, job.id)) ?? { ...current, state: "canceled" };
  }
  return answer(416, current.trace_size, current.state);
}

function answer(status: PatchAnswer["status"], size: number, state: JobState): PatchAnswer {
  return { status, size, state };
}

/** The bytes of a patch that are new; undefined when it does not fit. */
async function restOf(
  store: TraceStore,
  job: Job,
  { start, bytes }: { readonly start: number; readonly bytes: Buffer },
): Promise<Buffer | undefined> {
  const known = job.trace_size - start;
  if (known <= 0) return known === 0 ? bytes : undefined;
  const overlap = Math.min(known, bytes.length);
  const stored = await store.read(job, start, overlap);
  return stored.equals(bytes.subarray(0, overlap)) ? bytes.subarray(overlap) : undefined;
}
