import { existsSync, readFileSync } from "node:fs";
import { UsageError } from "@steps/console";
import { type KeptDirectory, keptDirectories, keptNamed, readKeptTrace, userDirectories } from "@steps/engine/runs";
import { shortDigest } from "@steps/model/digest";
import { decodeShown, type decodeTrace } from "@steps/trace";
import { decodePipelineTrace, isPipelineTrace } from "@steps/trace/pipeline";
import { absolute } from "../files/absolute.ts";
import { readText } from "../files/read-source.ts";

/** The trace of a job, as `trace show` takes it. */
export type JobTrace = Awaited<ReturnType<typeof decodeTrace>>;
/** The trace of a pipeline. */
export type PipelineTrace = Awaited<ReturnType<typeof decodePipelineTrace>>;

/** A trace from wherever it was. */
export type FoundTrace =
  | { readonly kind: "job"; readonly trace: JobTrace }
  | { readonly kind: "pipeline"; readonly trace: PipelineTrace };

/** The absolute path of the folder in which runs are kept. */
export function stateOf({ stateDir }: { readonly stateDir?: string | undefined }): string {
  return absolute(stateDir ?? userDirectories(process.env).state);
}

/**
 * The trace of a file, of standard input for `-`, or of a run that is kept, by the beginning of its id; without a name that of the
 * newest run. @throws {UsageError} if there is none, or several runs are meant
 */
export async function findTrace(named: string | undefined, stateDir: string): Promise<FoundTrace> {
  if (named !== undefined && (named === "-" || existsSync(named))) return readFound(readText(named));
  return readKeptTrace(stateDir, named === undefined ? newest(stateDir) : theOne(named, stateDir));
}

async function readFound(text: string): Promise<FoundTrace> {
  return isPipelineTrace(text)
    ? { kind: "pipeline", trace: await decodePipelineTrace(text) }
    : { kind: "job", trace: await decodeShown(text) };
}

function theOne(named: string, stateDir: string): KeptDirectory {
  const found = keptNamed(stateDir, named);
  const [run] = found;
  if (run !== undefined && found.length === 1) return run;
  if (found.length > 1) {
    const ids = found.map(({ traceId }) => shortDigest(traceId)).join(", ");
    throw new UsageError(`"${named}" begins the ids of ${found.length} runs`, `Write more of it: ${ids}.`);
  }
  throw new UsageError(
    `There is no file "${named}", and no run that is kept has such an id`,
    "step-runner trace ls lists the runs.",
  );
}

// The runs of a pipeline begin after it.
function newest(stateDir: string): KeptDirectory {
  const all = keptDirectories(stateDir);
  const [run] = all;
  if (run === undefined) throw new UsageError("No run is kept yet", "Name the file of a trace, or run something.");
  const pipeline = all.find(({ kind }) => kind === "pipelines");
  return pipeline !== undefined && isOf(pipeline, run) ? pipeline : run;
}

function isOf({ journal }: KeptDirectory, { traceId }: KeptDirectory): boolean {
  return existsSync(journal) && readFileSync(journal, "utf8").includes(traceId);
}
