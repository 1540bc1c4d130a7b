import { ACCEPTED, IS_IN_HAND } from "../jobs/accept-job.ts";
import type { TraceAppend } from "./trace-store.ts";

// The last three conditions always hold. They are for the planner, which takes them for rare: expecting few appends it reaches each job
// by its id, and does not read the whole table, with a plan that it may have made when the table was small.
/** Takes bytes for the traces of jobs, each if it is as the values say; `$1` to `$7` are those of `appendValues()`. */
export const TAKE_BYTES: string = `UPDATE jobs SET trace_size = a.size + a.length, trace_crc = a.next_crc, ${ACCEPTED}
  FROM unnest($1::bigint[], $2::int[], $3::bigint[], $4::bigint[], $5::int[], $6::bigint[], $7::bigint[])
    AS a (job_id, of_attempt, size, crc, resets, length, next_crc)
  WHERE id = a.job_id AND attempt = a.of_attempt AND ${IS_IN_HAND}
    AND trace_size = a.size AND trace_crc = a.crc AND trace_resets = a.resets
    AND a.job_id >= 0 AND a.size >= 0 AND a.length >= 0`;

/** The values for `TAKE_BYTES`: one column for each property, with all appends in it. No job may have two. */
export function appendValues(appends: readonly TraceAppend[]): unknown[] {
  return [
    appends.map(({ id }) => id),
    appends.map(({ attempt }) => attempt),
    appends.map(({ trace_size: size }) => size),
    appends.map(({ trace_crc: crc }) => crc),
    appends.map(({ trace_resets: resets }) => resets),
    appends.map(({ bytes }) => bytes.length),
    appends.map(({ crc }) => crc),
  ];
}
