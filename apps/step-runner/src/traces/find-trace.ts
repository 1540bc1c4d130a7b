import { existsSync, readFileSync, statSync } from "node:fs";
import { UsageError } from "@steps/console";
import { type KeptDirectory, keptDirectories, keptNamed, readKeptTrace, userDirectories } from "@steps/engine/runs";
import { nearest } from "@steps/model/diagnostic";
import { shortDigest } from "@steps/model/digest";
import { decodeShown, type decodeTrace, encodeTrace, TraceError } from "@steps/trace";
import { decodePipelineTrace, encodePipelineTrace, isPipelineTrace } from "@steps/trace/pipeline";
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

const MAX_IDS = 3;

/** The call of this program that lists the runs that an argument may name, for completion. */
export const RUN_LISTING = "trace ls --limit 100";

/** The absolute path of the folder in which runs are kept. */
export function stateOf({ stateDir }: { readonly stateDir?: string | undefined }): string {
  return absolute(stateDir ?? userDirectories(process.env).state);
}

/**
 * The trace of a file, of standard input for `-`, or of a run that is kept, by the beginning of its id; without a name that of the
 * newest run. @throws {UsageError} if there is none, or several runs are meant
 */
export async function findTrace(named: string | undefined, stateDir: string): Promise<FoundTrace> {
  if (named !== undefined && isReadable(named)) return inFile(named, () => readFound(readText(named)));
  return readKeptTrace(stateDir, named === undefined ? newest(stateDir) : theOne(named, stateDir));
}

/**
 * The text of a trace: that of a file, of standard input for `-`, or of a run that is kept, by the beginning of its id.
 * @throws {UsageError} if there is none, or several runs are meant
 */
export function readTraceText(named: string, stateDir: string): string {
  if (isReadable(named) || !/^[0-9a-f]+$/i.test(named)) return readText(named);
  const kept = readKeptTrace(stateDir, theOne(named, stateDir));
  return kept.kind === "pipeline" ? encodePipelineTrace(kept.trace) : encodeTrace(kept.trace);
}

/** Reads a trace that was named; what is wrong with one of a file is said with the name of the file. */
export async function inFile<T>(named: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof TraceError) || !isReadable(named)) throw error;
    throw new TraceError(error.code, `${named === "-" ? "<stdin>" : named}: ${error.message}`, error);
  }
}

/** Whether a text names a trace: a file, standard input, or a run that is kept. */
export function namesTrace(text: string, stateDir: string): boolean {
  return isReadable(text) || keptNamed(stateDir, text).length > 0;
}

/** The ids of runs that are nearly what was typed, for a hint; `undefined` if none is. */
export function nearestRuns(typed: string, stateDir: string): string | undefined {
  const wanted = typed.toLowerCase();
  if (!/^(?:[0-9a-f]+|(?=[a-z]*[0-9])[0-9a-z]+)$/.test(wanted)) return undefined;
  const ids = keptDirectories(stateDir).map(({ traceId }) => traceId);
  const begun = ids.filter((id) => id.startsWith(wanted));
  const near =
    begun.length > 0 ? begun : ids.filter((id) => nearest(wanted, [id.slice(0, wanted.length)]) !== undefined);
  const shown = near.slice(0, MAX_IDS).map((id) => shortDigest(id));
  return shown.length === 0 ? undefined : `Did you mean ${shown.join(" or ")}? step-runner trace ls lists the runs.`;
}

// A folder may have the name of a step, and is no trace.
function isReadable(text: string): boolean {
  return text === "-" || statSync(text, { throwIfNoEntry: false })?.isDirectory() === false;
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
    nearestRuns(named, stateDir) ?? "step-runner trace ls lists the runs.",
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
