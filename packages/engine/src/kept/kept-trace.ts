import { isStepsError } from "@steps/model";
import type { PipelineTraceJson, TraceJson } from "@steps/proto";
import { createPipelineRecorder } from "@steps/trace/pipeline";
import { foldJournal } from "../fold-journal.ts";
import { readPipelineJournal } from "../pipeline/read-pipeline-journal.ts";
import { listRuns } from "../run-directory.ts";
import type { KeptDirectory } from "./kept-run.ts";

/** The trace of a run or of a pipeline that is kept. */
export type KeptTrace =
  | { readonly kind: "job"; readonly trace: TraceJson }
  | { readonly kind: "pipeline"; readonly trace: PipelineTraceJson };

/**
 * Folds the journal of a run, or of a pipeline with those of its runs, to a trace. Nothing is ended or closed, whether it still runs or
 * not; a run of the pipeline whose journal is gone is not in the trace.
 *
 * @throws {EngineError} JOURNAL_NOT_FOUND
 * @throws {TraceError} JOURNAL_CORRUPT
 */
export function readKeptTrace(stateDir: string, { kind, journal }: KeptDirectory): KeptTrace {
  if (kind === "runs") return { kind: "job", trace: foldJournal(journal).trace };
  const { events, root } = readPipelineJournal(journal);
  const recorder = createPipelineRecorder();
  for (const event of events) recorder.apply(event);
  const isFinished = events.some(({ type }) => type === "pipeline-finished");
  const journals = new Map(listRuns(stateDir).map((run) => [run.traceId, run.journal]));
  const options = { journalRoot: root, journalEvents: events.length, isRecovered: !isFinished };
  return { kind: "pipeline", trace: recorder.trace(options, (id) => traceOf(journals.get(id))) };
}

function traceOf(journal: string | undefined): TraceJson | undefined {
  try {
    return journal === undefined ? undefined : foldJournal(journal).trace;
  } catch (error) {
    // A run that was forgotten or damaged meanwhile does not take the others with it.
    if (isStepsError(error) || (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
