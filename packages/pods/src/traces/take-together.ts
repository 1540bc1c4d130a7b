import type { Sql } from "../database/database.ts";
import type { JobState } from "../jobs/job.ts";
import { appendValues, TAKE_BYTES } from "./append-condition.ts";
import type { TraceAppend } from "./trace-store.ts";

/** The most appends that one statement takes. */
const BATCH = 100;

interface Waiting {
  readonly append: TraceAppend;
  readonly settle: (state: JobState | undefined) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Notes appends in the rows of their jobs: those whose requests arrive in the same moment by one statement. Gives the state of the
 * job, or undefined when the append does not fit any more. A job has one append at a time.
 */
export function takeTogether(sql: Sql): (append: TraceAppend) => Promise<JobState | undefined> {
  const waiting: Waiting[] = [];
  let isRunning = false;
  const run = async (): Promise<void> => {
    while (waiting.length > 0) await takeAll(sql, waiting.splice(0, BATCH));
    isRunning = false;
  };
  return (append) =>
    new Promise((settle, fail) => {
      waiting.push({ append, settle, fail });
      if (isRunning) return;
      isRunning = true;
      // First the other requests are read that are there already.
      setImmediate(() => void run());
    });
}

async function takeAll(sql: Sql, batch: readonly Waiting[]): Promise<void> {
  try {
    const rows = await sql.query<{ id: number; state: JobState }>(
      `${TAKE_BYTES} RETURNING id, state`,
      appendValues(batch.map(({ append }) => append)),
    );
    const states = new Map(rows.map(({ id, state }) => [id, state]));
    for (const { append, settle } of batch) settle(states.get(append.id));
  } catch (error) {
    for (const { fail } of batch) fail(error);
  }
}
