import { ClientError } from "@steps/client";
import { complain, errors } from "@steps/console";
import { type JobRecord, removeRecord } from "./job-records.ts";

/** What is known of a job here; `isNew` if nothing was before this command. */
export type Known = Pick<JobRecord, "id" | "target"> & { readonly isNew?: boolean };

/** How far a command came before it failed. */
export interface Failed {
  readonly record: Known;
  /** The service has acknowledged the job. */
  readonly isStarted: boolean;
  /** What to exit with if somebody asked the command to stop. */
  readonly exitCode: number | undefined;
}

const STOPPED: ReadonlySet<string> = new Set(["CANCELLED", "ABANDONED"]);
/** After these nobody knows whether the job runs. */
const OPEN_ENDED: ReadonlySet<string> = new Set([...STOPPED, "CONNECTION_LOST"]);

/** Forgets a job that there is none of, says what has a form of its own, and gives its exit code. @throws what has none */
export function explainFailure(error: unknown, { record, isStarted, exitCode }: Failed): number {
  const code = error instanceof ClientError ? error.code : "";
  const isGone = code === "JOB_LOST" || (error instanceof ClientError && error.serviceCode === "JOB_CLOSED");
  if (isGone || (record.isNew === true && !isStarted && !OPEN_ENDED.has(code))) removeRecord(record);
  if (!(error instanceof ClientError)) throw error;
  if (code === "REQUEST_INVALID") {
    // Diagnostics have their own form.
    void errors.write(Buffer.from(`${error.message}\n`));
    return 2;
  }
  if (exitCode !== undefined && STOPPED.has(code)) {
    complain(error.message);
    return exitCode;
  }
  throw error;
}
