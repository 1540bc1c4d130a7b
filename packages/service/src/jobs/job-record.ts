import type { Status } from "@steps/model";

/**
 * The data that is kept of a job on disk. It never holds the request: neither its environment nor its variables, still
 * less its secrets.
 */
export interface JobRecord {
  readonly id: string;
  /** An id that is chosen anew for each job, so that a job differs from a later one of the same id. */
  readonly serial: string;
  readonly requestDigest: string;
  readonly tokenDigest?: string;
  readonly status: "running" | Status;
  readonly startedAt: number;
  readonly finishedAt?: number;
  readonly exitCode?: number;
  readonly error?: { readonly code: string; readonly message: string };
  readonly log: { readonly records: number; readonly stdoutBytes: number; readonly stderrBytes: number };
  /** Tells whether the journal is the one that the service wrote. */
  readonly journalRoot?: string;
}

/** Why a job did not succeed. */
export type JobError = NonNullable<JobRecord["error"]>;

// Enough for a list of diagnostics. A client of gRPC takes 4 MiB of answer, and that may be about a thousand jobs.
const MAX_MESSAGE_UNITS = 4096;
/** An error ends in what happened: `exit status 3`. */
const KEPT_END_UNITS = 1024;

/** An error of bounded length: it may have names and texts of the job in it, which are as long as their author likes. */
export function shortenError({ code, message }: JobError): JobError {
  if (message.length <= MAX_MESSAGE_UNITS) return { code, message };
  const head = message.slice(0, MAX_MESSAGE_UNITS - KEPT_END_UNITS);
  return { code, message: `${head}…${message.slice(-KEPT_END_UNITS)}`.toWellFormed() };
}

const VERSION = 1;
const STATUSES: ReadonlySet<string> = new Set<JobRecord["status"]>([
  "running", "success", "failure", "error", "timeout", "cancelled", "skipped", "interrupted",
]); // oxfmt-ignore

export function encodeJobRecord(record: JobRecord): string {
  return `${JSON.stringify({ version: VERSION, ...record })}\n`;
}

/** A record as it was written; `undefined` for anything else. */
export function decodeJobRecord(text: string): JobRecord | undefined {
  const json = parse(text);
  if (json === undefined || json["version"] !== VERSION || !isRecord(json)) return undefined;
  const { id, serial, requestDigest, tokenDigest, status, startedAt, finishedAt, exitCode, error, log, journalRoot } =
    json;
  const { records, stdoutBytes, stderrBytes } = log;
  return {
    id,
    serial,
    requestDigest,
    status,
    startedAt,
    log: { records, stdoutBytes, stderrBytes },
    tokenDigest,
    finishedAt,
    exitCode,
    error: error === undefined ? undefined : { code: error.code, message: error.message },
    journalRoot,
  };
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const json: unknown = JSON.parse(text);
    return isObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(json: object): json is JobRecord {
  const { id, serial, requestDigest, tokenDigest, status, startedAt, finishedAt, exitCode, error, log, journalRoot } =
    json as Partial<Record<keyof JobRecord, unknown>>;
  return (
    [id, serial, requestDigest, status].every((text) => typeof text === "string") &&
    [tokenDigest, journalRoot].every((text) => text === undefined || typeof text === "string") &&
    STATUSES.has(status as string) &&
    isCount(startedAt) &&
    [finishedAt, exitCode].every((number) => number === undefined || isCount(number)) &&
    (status === "running" || (finishedAt !== undefined && exitCode !== undefined)) &&
    (error === undefined ||
      (isObject(error) && typeof error["code"] === "string" && typeof error["message"] === "string")) &&
    isObject(log) &&
    [log["records"], log["stdoutBytes"], log["stderrBytes"]].every(isCount)
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
