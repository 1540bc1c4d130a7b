import { uploadArtifacts } from "./artifacts-upload.ts";
import { entryPath, shareEntry } from "../store/entry-store.ts";

/** The place of a job's artifacts in a store. */
export interface StoredJob {
  /** The folder in which jobs keep their artifacts: absolute. */
  readonly artifactsDir: string;
  readonly job: string;
}

/**
 * Keeps all files of a folder as if a job had kept them.
 *
 * @throws {BuiltinError} BUILTIN_FAILED @throws {Error} of the system
 */
export async function keepFolder(folder: string, { artifactsDir, job }: StoredJob): Promise<void> {
  const inputs = { artifacts_dir: artifactsDir, job, paths: ["**"], type: "archive" };
  await uploadArtifacts(inputs, { workDir: folder, env: process.env, log: () => undefined });
}

/**
 * Gives what a job has kept in one store the name of another job in another one. Gives `false` for a job that has kept nothing.
 *
 * @throws {BuiltinError} BUILTIN_FAILED @throws {Error} of the system
 */
export async function shareArtifacts(from: StoredJob, to: StoredJob): Promise<boolean> {
  return await shareEntry(entryPath(from.artifactsDir, from.job), entryPath(to.artifactsDir, to.job));
}
