import { hasDotenvReport, type PlannedJob } from "@steps/gitlab-ci/pipeline";
import type { Variable } from "@steps/gitlab-ci/variables";
import type { CiContext, CiPipeline } from "./ci-pipeline.ts";
import { storesOf } from "./stores-of.ts";

/** The variables of the dotenv reports of the jobs whose artifacts a job gets. */
export async function dotenvVariables(
  context: CiContext,
  { loaded, planned, path }: CiPipeline,
  work: PlannedJob,
): Promise<ReadonlyMap<string, Variable>> {
  const makers = planned.artifactsOf(work).filter((name) => {
    const job = loaded.jobs.get(name);
    return job !== undefined && hasDotenvReport(job);
  });
  if (makers.length === 0) return new Map();
  const { storedVariables } = await import("@steps/builtins/run");
  const { artifactsDir } = storesOf(context, path);
  return new Map([...storedVariables(artifactsDir, makers)].map(([name, value]) => [name, { value, isRaw: false }]));
}
