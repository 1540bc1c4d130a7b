import { BuiltinError } from "../../builtin-error.ts";
import { readZip } from "@steps/transfer/archive";
import { JOB_LIMITS, JOB_RULES } from "../files/job-files.ts";
import { entryPath, openArchive } from "../store/entry-store.ts";
import { isExpired } from "./expiry.ts";
import { ARTIFACT_FILES } from "./artifact-store.ts";

/** One file among the artifacts of a job. */
export interface ReadArtifactOptions {
  /** The folder in which jobs keep their artifacts: absolute. */
  readonly artifactsDir: string;
  /** The name of the job that kept them. */
  readonly job: string;
  /** The path of the file in the project of that job: `generated/child.yml`. */
  readonly path: string;
  /** The number of bytes that it may have. */
  readonly maxBytes: number;
}

/**
 * Reads one file of what a job has kept with `gitlab/artifacts-upload`, without unpacking anything. `undefined` for a job that has
 * kept no such file; a link is none.
 *
 * @throws {BuiltinError} BUILTIN_FAILED for a file that is too large, and for an archive that is not the one that was kept
 * @throws {TransferError} ARCHIVE_INVALID, ARCHIVE_TOO_LARGE, UNSAFE_ENTRY @throws {Error} of the system
 */
export async function readArtifact(options: ReadArtifactOptions): Promise<Uint8Array | undefined> {
  const { artifactsDir, job, path, maxBytes } = options;
  const opened = await openArchive(entryPath(artifactsDir, job), ARTIFACT_FILES.archive);
  if (opened?.file === undefined) return undefined;
  try {
    if (isExpired(opened.entry.metadata)) return undefined;
    return await readZip(opened.file, { limits: JOB_LIMITS, rules: JOB_RULES }, async ({ members }) => {
      const member = members.find(({ node }) => node.path === path && node.type === "file");
      if (member === undefined) return undefined;
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of member.content()) {
        bytes += chunk.byteLength;
        if (bytes > maxBytes)
          throw new BuiltinError("BUILTIN_FAILED", `The file has more than the ${maxBytes} bytes that it may have`);
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    });
  } finally {
    await opened.file.close();
  }
}
