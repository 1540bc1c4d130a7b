import { nearest, quote } from "@steps/model/diagnostic";
import type { CiReport } from "../ci-rules.ts";
import { jobNamed, type LoadedJob, type LoadedPipeline } from "../load/loaded-pipeline.ts";

/** The job or the instance of that name; one that is not there, or hidden, is reported. */
export function findJob(pipeline: LoadedPipeline, name: string, report: CiReport): LoadedJob | undefined {
  const { root, groups, sources } = pipeline;
  const job = jobNamed(pipeline, name);
  if (job !== undefined) return job;
  const entry = root.entries.get(name);
  if (entry !== undefined && name.startsWith(".")) {
    report.error(entry.key, {
      code: "hidden-job",
      message: `${quote(name)} is hidden: a job whose name begins with a dot never runs`,
    });
    return undefined;
  }
  const guess = nearest(name, groups.keys());
  const names = [...groups.keys()].slice(0, 20).map(quote);
  const list =
    names.length === 0 ? "The file has no jobs." : `Jobs: ${names.join(", ")}${groups.size > 20 ? ", …" : ""}.`;
  report.error(undefined, {
    code: "unknown-job",
    message: `Cannot find the job ${quote(name)} in ${sources[0]?.name ?? "the configuration"}`,
    hint: guess === undefined ? list : `Did you mean ${quote(guess)}? ${list}`,
  });
  return undefined;
}
