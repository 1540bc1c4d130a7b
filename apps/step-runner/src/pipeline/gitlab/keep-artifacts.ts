import { join } from "node:path";
import { complain } from "@steps/console/terminal";
import { messageOf } from "@steps/model";
import { SEPARATOR } from "@steps/pipeline-view";

/** The artifacts of a job, and the folder that the user has named for those of all jobs. */
export interface KeepOptions {
  /** The store that the job kept them in: absolute. */
  readonly artifactsDir: string;
  readonly job: string;
  /** The names of the jobs that started its pipeline, each with ` / ` behind it. */
  readonly path: string;
  readonly target: string;
}

/** Unpacks the artifacts of a job to a folder with its name. What goes wrong is said, and changes nothing for the job. */
export async function keepArtifacts({ artifactsDir, job, path, target }: KeepOptions): Promise<void> {
  const { unpackArtifacts } = await import("@steps/builtins/run");
  const folder = join(target, ...path.split(SEPARATOR).slice(0, -1).map(folderName), folderName(job));
  try {
    await unpackArtifacts({ artifactsDir, job, target: folder });
  } catch (error) {
    complain(`Cannot unpack the artifacts of the job "${path}${job}" to "${folder}": ${messageOf(error)}`);
  }
}

/** Runs a job whose artifacts stay in the store, and then unpacks those that this run of it has kept, if any. */
export async function keepingArtifacts<Result>(options: KeepOptions, run: () => Promise<Result>): Promise<Result> {
  const { artifactsToken } = await import("@steps/builtins/run");
  const before = artifactsToken(options);
  const result = await run();
  if (artifactsToken(options) !== before) await keepArtifacts(options);
  return result;
}

/** A name as one part of a path: what cannot stand there is written as in a URL, so that no two names become one. */
export function folderName(name: string): string {
  const encoded = name.replaceAll(/[%/\\\u0000-\u001F\u007F]/g, (sign) => {
    return `%${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  });
  return /^\.+$/.test(encoded) ? encoded.replaceAll(".", "%2E") : encoded;
}
