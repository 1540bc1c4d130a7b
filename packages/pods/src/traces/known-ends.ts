import type { TraceEnd, TraceStore } from "./trace-store.ts";

/** A store that knows where the traces end that this process appended to last. */
export interface KnownTraces extends TraceStore {
  /**
   * The end of the trace of an attempt, if this process has appended to it. It may be out of date: another process of the pod may have
   * appended since, or the job may have ended. An append to it says so.
   */
  readonly endOf: (job: number, attempt: number) => TraceEnd | undefined;
}

const MAX_KNOWN = 10_000;

/** Keeps the ends of traces, so that most patches cost one statement: the append, and no look at the job before it. */
export function knowEnds(store: TraceStore): KnownTraces {
  const ends = new Map<number, TraceEnd>();
  return {
    ...store,
    endOf(job, attempt) {
      const end = ends.get(job);
      return end?.attempt === attempt ? end : undefined;
    },
    async append(append) {
      ends.delete(append.id);
      const state = await store.append(append);
      if (state === undefined) return undefined;
      const { id, attempt, trace_resets, trace_size, bytes, crc } = append;
      ends.set(id, { id, attempt, trace_resets, trace_size: trace_size + bytes.length, trace_crc: crc });
      const [oldest = id] = ends.keys();
      if (ends.size > MAX_KNOWN) ends.delete(oldest);
      return state;
    },
  };
}
