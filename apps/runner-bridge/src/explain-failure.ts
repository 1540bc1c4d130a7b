import { ClientError } from "@steps/client";
import { complain, errors } from "@steps/console/terminal";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import { type JobRecord, removeRecord } from "./job-records.ts";

/** The job as it is known here. `isNew` means that it was not known before this command. */
export type Known = Pick<JobRecord, "id" | "target"> & { readonly isNew?: boolean };

/** How far a command came before it failed. */
export interface Failed {
  readonly record: Known;
  /** The service has acknowledged the job. */
  readonly isStarted: boolean;
  /** The advice about a job that was left to itself. */
  readonly whenDetached?: string | undefined;
  /** The exit code if somebody asked the command to stop; undefined if nobody did. */
  readonly exitCode: number | undefined;
}

const STOPPED: ReadonlySet<string> = new Set(["CANCELLED", "ABANDONED", "DETACHED"]);
/** An error with one of these codes leaves open whether the job runs. */
const OPEN_ENDED: ReadonlySet<string> = new Set([...STOPPED, "CONNECTION_LOST"]);

/** Forgets a job that there is none of, says what has a form of its own, and gives its exit code. @throws what has none */
export function explainFailure(error: unknown, { record, isStarted, exitCode, whenDetached }: Failed): number {
  const code = error instanceof ClientError ? error.code : "";
  const isGone = code === "JOB_LOST" || (error instanceof ClientError && error.serviceCode === "JOB_CLOSED");
  if (isGone || (record.isNew === true && !isStarted && !OPEN_ENDED.has(code))) removeRecord(record);
  if (!(error instanceof ClientError)) throw error;
  if (code === "REQUEST_INVALID") {
    // Diagnostics have their own form.
    void errors.writeLines(`${error.message}
${
  error.hint === undefined
    ? ""
    : `  hint: ${error.hint}
`
}`);
    return COMMAND_EXITS.input.code;
  }
  if (exitCode !== undefined && STOPPED.has(code)) {
    complain(error.message, code === "DETACHED" ? whenDetached : undefined);
    return exitCode;
  }
  throw error;
}
