import { closeSync, constants, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { listRuns, type RunDirectory } from "@steps/engine/runs";
import { sha256 } from "@steps/platform";
import { decodeJobRecord, encodeJobRecord, type JobRecord } from "./job-record.ts";
import { openRegularFile, readRegularFile } from "./regular-file.ts";

const RECORD_FILE = "job.json";
/** The folder of those variables of a job that are files. */
export const VARIABLES_FOLDER = "variables";
const KEY_LENGTH = 32;
/** Messages of errors are the longest part of a record. */
const MAX_RECORD_BYTES = 64 * 1024 * 1024;

/** The name of a job's folder: ids are whatever a caller likes. */
export function folderNameOf(id: string): string {
  return sha256(id).slice(0, KEY_LENGTH);
}

/** Whether a name below `jobs` is that of a job's folder. */
export function isFolderName(name: string): boolean {
  return new RegExp(`^[0-9a-f]{${KEY_LENGTH}}$`).test(name);
}

/** Makes the folder of a job with its first record. @throws if the disk does not take it */
export function createJobFolder(folder: string, record: JobRecord): void {
  mkdirSync(folder, { mode: 0o700 });
  writeRecord(folder, record);
}

/** Replaces the record of a job, so that it is always whole. @throws if the disk does not take it */
export function writeRecord(folder: string, record: JobRecord): void {
  const next = join(folder, `${RECORD_FILE}.next`);
  const { O_CREAT, O_TRUNC, O_WRONLY } = constants;
  const fd = openRegularFile(next, O_WRONLY | O_CREAT | O_TRUNC);
  try {
    writeFileSync(fd, encodeJobRecord(record));
  } finally {
    closeSync(fd);
  }
  renameSync(next, join(folder, RECORD_FILE));
}

/** The record of a job; `undefined` if it is damaged. @throws if it cannot be read */
export function readRecord(folder: string): JobRecord | undefined {
  return decodeJobRecord(readRegularFile(join(folder, RECORD_FILE), MAX_RECORD_BYTES));
}

/** Returns the folder in which the engine keeps a job's journal and logs. */
export function engineDirectory(folder: string): string {
  return join(folder, "engine");
}

/** The same of all jobs of a table. */
export function engineDirectories(stateDir: string): string[] {
  const jobs = join(stateDir, "jobs");
  if (!existsSync(jobs)) return [];
  return readdirSync(jobs)
    .filter(isFolderName)
    .map((name) => engineDirectory(join(jobs, name)));
}

/** The engine's run of a job: there is at most one. */
export function runOf(folder: string): RunDirectory | undefined {
  return listRuns(engineDirectory(folder))[0];
}

/** Moves a folder out of the way in one step, then removes it; what cannot be removed is left for later. */
export function discard(folder: string, trash: string): void {
  const doomed = join(trash, randomUUID());
  renameSync(folder, doomed);
  removeTree(doomed);
}

/** Removes a tree as far as it lets. Whether it is gone. */
export function removeTree(path: string): boolean {
  try {
    rmSync(path, { recursive: true, force: true });
    return true;
  } catch {
    // Files of another user, as steps that run as root in a container of theirs leave them.
    return false;
  }
}
