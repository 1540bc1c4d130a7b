import type { LoadedFile, LoadFailure } from "@steps/gitlab-ci/load";
import { isStepsError } from "@steps/model";
import { decodeSource } from "@steps/model/utf8";
import type { ReadArtifactOfJob } from "@steps/ci-project";
import type { CiContext, CiPipeline } from "./ci-pipeline.ts";
import { storesOf } from "./stores-of.ts";

/** GitLab's limit for the files of a configuration, four bytes for each character. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Reads files that jobs of a pipeline have made, out of what they have kept: nothing is unpacked. */
export function artifactReader(context: CiContext, { loaded, path: pipelinePath }: CiPipeline): ReadArtifactOfJob {
  const { artifactsDir } = storesOf(context, pipelinePath);
  return async ({ job, path }): Promise<LoadedFile | LoadFailure> => {
    const { readArtifact } = await import("@steps/builtins/run");
    const names = loaded.groups.get(job)?.map(({ name }) => name) ?? [job];
    try {
      for (const name of names) {
        const bytes = await readArtifact({ artifactsDir, job: name, path, maxBytes: MAX_BYTES });
        // Local includes of it are those of the project.
        if (bytes !== undefined) return { source: decodeSource(`artifact:${name}/${path}`, bytes), context: {} };
      }
    } catch (error) {
      if (!isStepsError(error)) throw error;
      return { problem: error.message };
    }
    return {
      problem: "The job has kept no such file",
      hint: 'It has to be in "artifacts:paths" of a job that ran before.',
    };
  };
}
