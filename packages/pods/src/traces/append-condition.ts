import { ACCEPTED, IN_HAND } from "../jobs/accept-job.ts";
import type { TraceAppend } from "./trace-store.ts";

/** Takes bytes for the trace of a job, if it is as the values say; `$1` to `$7` are those of `appendValues()`. */
export const TAKE_BYTES: string = `UPDATE jobs SET trace_size = $3::bigint + $6::bigint, trace_crc = $7, ${ACCEPTED}
  WHERE ${IN_HAND} AND trace_size = $3 AND trace_crc = $4 AND trace_resets = $5`;

/** The values for `TAKE_BYTES`. */
export function appendValues({ id, attempt, trace_size, trace_crc, trace_resets, bytes, crc }: TraceAppend): unknown[] {
  return [id, attempt, trace_size, trace_crc, trace_resets, bytes.length, crc];
}
