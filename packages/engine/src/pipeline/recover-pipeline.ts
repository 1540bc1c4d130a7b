import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isStepsError } from "@steps/model";
import type { PipelineTraceJson, TraceJson } from "@steps/proto";
import { createPipelineRecorder } from "@steps/trace/pipeline";
import { EngineError } from "../engine-error.ts";
import { recover, type Recovered } from "../recover.ts";
import { readPipelineJournal } from "./read-pipeline-journal.ts";
import { closeRunDirectories, describeRun, isAlive, isClosed, listRuns, type RunDirectory } from "../run-directory.ts";

/** The journal of a pipeline that became a trace, with those of its runs. */
export interface RecoveredPipeline extends Omit<Recovered, "trace"> {
  readonly trace: PipelineTraceJson;
}

/**
 * Turns the journal of a pipeline, and those of its runs, into a trace: of the folder or file given, or of the newest pipeline that
 * neither ended nor still runs. What its runs left is ended. `undefined`: what is to be recovered is a run of its own.
 *
 * @throws {EngineError} JOURNAL_IN_USE if the pipeline given still runs
 * @throws {TraceError} JOURNAL_CORRUPT
 */
export async function recoverPipeline(stateDir: string, given?: string): Promise<RecoveredPipeline | undefined> {
  const directory = given === undefined ? newestOpen(stateDir) : locate(given);
  if (directory === undefined) return undefined;
  const { journal } = directory;
  const { events, root, isTorn } = readPipelineJournal(journal);
  const recorder = createPipelineRecorder();
  for (const event of events) recorder.apply(event);
  const isFinished = events.some(({ type }) => type === "pipeline-finished");
  if (!isFinished && isAlive(directory))
    throw new EngineError("JOURNAL_IN_USE", `Cannot recover "${journal}": its pipeline still runs`, {
      hint: "End it first; it writes its own trace.",
    });
  const runs = await recoverRuns(stateDir, recorder.runs);
  const options = { journalRoot: root, journalEvents: events.length, isRecovered: !isFinished };
  const trace = recorder.trace(options, (id) => runs.traces.get(id));
  const notes = [...(trace.notes ?? []), ...runs.notes];
  return {
    trace: notes.length === 0 ? trace : { ...trace, notes },
    journal,
    isTorn,
    killed: runs.found.reduce((sum, { killed }) => sum + killed, 0),
    close: () => {
      for (const run of runs.found) run.close();
      if (!isClosed(directory)) closeRunDirectories([directory], stateDir, { kind: "pipelines" });
    },
  };
}

interface RecoveredRuns {
  readonly found: readonly Recovered[];
  readonly traces: ReadonlyMap<string, TraceJson>;
  readonly notes: readonly string[];
}

// One run whose journal is gone or was changed does not take the others with it.
async function recoverRuns(stateDir: string, ids: readonly string[]): Promise<RecoveredRuns> {
  const directories = new Map(listRuns(stateDir).map((run) => [run.traceId, run]));
  const found: Recovered[] = [];
  const traces = new Map<string, TraceJson>();
  const notes: string[] = [];
  for (const id of ids) {
    const run = directories.get(id);
    if (run === undefined) continue;
    try {
      const recovered = await recover(stateDir, run.path);
      found.push(recovered);
      traces.set(id, recovered.trace);
    } catch (error) {
      if (!isStepsError(error)) throw error;
      notes.push(`error: ${error.message} [${error.code}]`);
    }
  }
  return { found, traces, notes };
}

// A run that began after the pipeline and is none of its own was killed later.
function newestOpen(stateDir: string): RunDirectory | undefined {
  const isOpen = (run: RunDirectory): boolean => !isClosed(run) && !isAlive(run) && existsSync(run.journal);
  const pipeline = listRuns(stateDir, "pipelines").find(isOpen);
  if (pipeline === undefined) return undefined;
  const run = listRuns(stateDir).find(isOpen);
  if (run === undefined || basename(run.path) < basename(pipeline.path)) return pipeline;
  return readFileSync(pipeline.journal, "utf8").includes(run.traceId) ? pipeline : undefined;
}

function locate(given: string): RunDirectory | undefined {
  const path = resolve(given);
  const folder = existsSync(path) && statSync(path).isDirectory() ? path : dirname(path);
  const traceId = /-([0-9a-f]{32})$/.exec(basename(folder))?.[1];
  const isOfPipeline = basename(dirname(folder)) === "pipelines" && existsSync(join(folder, "trace.jsonl"));
  return traceId === undefined || !isOfPipeline ? undefined : describeRun(folder, traceId);
}
