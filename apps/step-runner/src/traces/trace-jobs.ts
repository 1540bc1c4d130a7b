import { UsageError } from "@steps/console";
import { type decodePipelineTrace, jobsNamed } from "@steps/trace/pipeline";

type PipelineTrace = Awaited<ReturnType<typeof decodePipelineTrace>>;

const MAX_NAMES = 20;

/** The jobs of a pipeline's trace that a name means. @throws {UsageError} if there are none */
export function jobsOf({ jobs = [] }: PipelineTrace, name: string): ReturnType<typeof jobsNamed> {
  const found = jobsNamed(jobs, name);
  if (found.length > 0) return found;
  const names = jobs.flatMap(({ name: known = "" }) => (known === "" ? [] : [known]));
  const more = names.length > MAX_NAMES ? ", …" : "";
  throw new UsageError(`There is no job "${name}"`, `There are ${names.slice(0, MAX_NAMES).join(", ")}${more}.`);
}
