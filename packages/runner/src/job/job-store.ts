import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { createJobToken, type JobRequest } from "@steps/client";
import { makePrivateFolder } from "@steps/platform";
import { type JobPayload, PAYLOAD } from "@steps/runner-api/job";
import type { JobEnd } from "../job-end.ts";

/**
 * How far a job has come: the server gave it (`received`), the server knows that we have it (`accepted`), or its end is known
 * (`ended`) and still to be told.
 */
type JobPhase = "received" | "accepted" | "ended";

/** The facts of a job that a runner must know again after it was killed. They are on the disk before anything follows from them. */
export interface JobRecord {
  /** The runner that took it, by the URL and the number that its server gave it. */
  readonly runner: string;
  readonly phase: JobPhase;
  readonly payload: JobPayload;
  /** The lowest number that no other job of the runner had: `CI_CONCURRENT_ID`. */
  readonly slot: number;
  /** By which the service knows the job, and a repetition of its request. */
  readonly serviceToken: string;
  readonly nonce: string;
  /** The request to the service, once it was made. */
  readonly request?: JobRequest | undefined;
  /** The service has acknowledged it. */
  readonly isStarted?: boolean | undefined;
  /** The executor's own notes about the place that it made. */
  readonly place?: Readonly<Record<string, string>> | undefined;
  readonly end?: JobEnd | undefined;
}

/** A job in a folder of its own. */
export class StoredJob {
  readonly folder: string;
  #record: JobRecord;

  constructor(folder: string, record: JobRecord) {
    this.folder = folder;
    this.#record = record;
  }

  get record(): JobRecord {
    return this.#record;
  }

  /** Changes facts; they are on the disk when this returns. @throws the error of the system */
  update(change: Partial<JobRecord>): void {
    this.#record = { ...this.#record, ...change };
    writeRecord(this.folder, this.#record);
  }

  /** Forgets the job. */
  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Puts a job that was received on the disk. @throws the error of the system */
export function storeJob(root: string, job: { runner: string; payload: JobPayload; slot: number }): StoredJob {
  const record: JobRecord = {
    ...job,
    phase: "received",
    serviceToken: createJobToken(),
    nonce: randomBytes(16).toString("hex"),
  };
  makePrivateFolder(root);
  // Another attempt at the same job has another token.
  const digest = createHash("sha256").update(`${job.runner}\n${job.payload.token}`).digest("hex");
  const folder = join(root, `${job.payload.id}-${digest.slice(0, 12)}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeRecord(folder, record);
  return new StoredJob(folder, record);
}

/** The jobs on the disk; a folder without a whole record is of a job that nobody was told of, and goes. */
export function storedJobs(root: string): readonly StoredJob[] {
  return namesIn(root).flatMap((name) => {
    const folder = join(root, name);
    const record = readRecord(folder);
    if (record !== undefined) return [new StoredJob(folder, record)];
    rmSync(folder, { recursive: true, force: true });
    return [];
  });
}

/** Whether a job is on the disk, by the last part of the name of its folder. */
export function isStored(root: string, attempt: string): boolean {
  return namesIn(root).some((name) => name.endsWith(`-${attempt}`));
}

const RECORD = "job.json";

function writeRecord(folder: string, record: JobRecord): void {
  const draft = join(folder, `${RECORD}.tmp`);
  const file = openSync(draft, "w", 0o600);
  try {
    const bytes = Buffer.from(JSON.stringify(record));
    for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, join(folder, RECORD));
}

function readRecord(folder: string): JobRecord | undefined {
  try {
    const record = JSON.parse(readFileSync(join(folder, RECORD), "utf8")) as JobRecord;
    return { ...record, payload: PAYLOAD.readValue(record.payload) };
  } catch {
    return undefined;
  }
}

function namesIn(root: string): readonly string[] {
  try {
    return readdirSync(root);
  } catch {
    return [];
  }
}
