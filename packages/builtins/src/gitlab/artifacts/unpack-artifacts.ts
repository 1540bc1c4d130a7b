import { randomBytes } from "node:crypto";
import { cpSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { extractArchive } from "../files/extract-archive.ts";
import { entryPath, openArchive, openEntry } from "../store/entry-store.ts";
import { ARTIFACT_FILES } from "./artifact-store.ts";

/** The artifacts of one job, and where they go. */
export interface UnpackOptions {
  /** The folder in which jobs keep their artifacts: absolute. */
  readonly artifactsDir: string;
  /** The name of the job that kept them. */
  readonly job: string;
  /** The folder that is made of them: absolute. What is there is replaced as a whole. */
  readonly target: string;
}

/**
 * Unpacks what a job has kept with `gitlab/artifacts-upload` for a person to look at: its archive, and its reports below
 * `reports/TYPE`. Gives `false` for a job that has kept nothing.
 *
 * @throws {TransferError} ARCHIVE_INVALID, ARCHIVE_TOO_LARGE, UNSAFE_ENTRY @throws {Error} of the system
 */
export async function unpackArtifacts({ artifactsDir, job, target }: UnpackOptions): Promise<boolean> {
  const opened = await openArchive(entryPath(artifactsDir, job), ARTIFACT_FILES.archive);
  if (opened === undefined) return false;
  const { entry, file } = opened;
  // Another pipeline may unpack to the same folder.
  const made = `${target}.${randomBytes(6).toString("hex")}`;
  try {
    mkdirSync(made, { recursive: true });
    if (file !== undefined) await extractArchive(file, { root: made });
    const reports = { from: join(entry.dir, ARTIFACT_FILES.reports), to: join(made, ARTIFACT_FILES.reports) };
    try {
      cpSync(reports.from, reports.to, { recursive: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
    rmSync(target, { recursive: true, force: true });
    renameSync(made, target);
    return true;
  } finally {
    rmSync(made, { recursive: true, force: true });
    await file?.close();
  }
}

/** A token for what a job has kept, another one once it has kept something again; `undefined` for a job that has kept nothing. */
export function artifactsToken({ artifactsDir, job }: Omit<UnpackOptions, "target">): string | undefined {
  return openEntry(entryPath(artifactsDir, job))?.dir;
}
