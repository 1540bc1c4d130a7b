import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createJobToken } from "@steps/client";
import { makePrivateFolder } from "@steps/platform";
import { jobsDirectory } from "./directories.ts";

/** The data that is needed to follow, cancel and close a job, and to send its request once more. */
export interface JobRecord {
  readonly id: string;
  readonly target: string;
  readonly token: string;
  readonly nonce: string;
}

const MAX_AGE_MS = 30 * 24 * 3_600_000;

/**
 * The record of a job that is about to be run: the one that an earlier process left, so that the same request again is the
 * same job, or a new one. It is on the disk, readable by the user alone, before the service hears of the job.
 */
export function openRecord(
  id: string,
  target: string,
  token: string | undefined,
): JobRecord & { readonly isNew: boolean } {
  const known = read(pathOf(id, target));
  if (known !== undefined && (token === undefined || token === known.token)) return { ...known, isNew: false };
  const record = { id, target, token: token ?? createJobToken(), nonce: randomBytes(16).toString("hex") };
  const path = pathOf(id, target);
  makePrivateFolder(jobsDirectory(process.env));
  removeOld();
  const draft = `${path}.${process.pid}.tmp`;
  writeFileSync(draft, `${JSON.stringify(record)}\n`, { mode: 0o600, flag: "wx" });
  renameSync(draft, path);
  return { ...record, isNew: true };
}

/** The record of a job that runs on this target; else that of a job with this id elsewhere, which may be the same place. */
export function findRecord(id: string, target: string): JobRecord | undefined {
  const known = read(pathOf(id, target));
  if (known !== undefined) return known;
  const folder = jobsDirectory(process.env);
  const alike = names(folder).find((name) => name.startsWith(`${digest(id)}-`) && name.endsWith(".json"));
  return alike === undefined ? undefined : read(join(folder, alike));
}

/** Forgets a job that was closed, or that the service does not know. */
export function removeRecord(record: Pick<JobRecord, "id" | "target">): void {
  rmSync(pathOf(record.id, record.target), { force: true });
}

function pathOf(id: string, target: string): string {
  return join(jobsDirectory(process.env), `${digest(id)}-${digest(target)}.json`);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}

function read(path: string): JobRecord | undefined {
  try {
    const { id, target, token, nonce } = JSON.parse(readFileSync(path, "utf8")) as Partial<JobRecord>;
    const isWhole = [id, target, token, nonce].every((part) => typeof part === "string");
    return isWhole
      ? { id: id as string, target: target as string, token: token as string, nonce: nonce as string }
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function removeOld(): void {
  const folder = jobsDirectory(process.env);
  for (const name of names(folder)) {
    const path = join(folder, name);
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat !== undefined && Date.now() - stat.mtimeMs > MAX_AGE_MS) rmSync(path, { force: true });
  }
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}
