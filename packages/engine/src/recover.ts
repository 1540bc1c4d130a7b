import { existsSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { killSurvivors } from "@steps/executor";
import { removeContainers } from "./remove-containers.ts";
import type { StepRecordJson, TraceJson } from "@steps/proto";
import { EngineError } from "./engine-error.ts";
import { foldJournal } from "./fold-journal.ts";
import {
  closeRunDirectories,
  describeRun,
  isAlive,
  isClosed,
  listRuns,
  removeTemporary,
  type RunDirectory,
} from "./run-directory.ts";

/** A journal that became a trace. */
export interface Recovered {
  readonly trace: TraceJson;
  readonly journal: string;
  /** Whether the last line was cut off in the middle. */
  readonly isTorn: boolean;
  /** Processes of the run that were still there and are not any more. */
  readonly killed: number;
  /** Says that the trace is safe: the run is not offered again, and what its steps needed is removed. */
  close(): void;
}

const GRACE_MS = 2_000;

/**
 * Turns a journal into a trace: of the file given, or of the newest run that neither ended nor still runs. Steps that
 * were open are `interrupted`; what is left of the run's processes and of the containers of its actions is ended.
 *
 * @throws {EngineError} JOURNAL_NOT_FOUND; JOURNAL_IN_USE if the run given still runs
 * @throws {TraceError} JOURNAL_CORRUPT
 */
export async function recover(stateDir: string, journalPath?: string): Promise<Recovered> {
  const journal = journalPath === undefined ? newestOpen(stateDir).journal : locate(journalPath);
  const { trace, isFinished, isTorn } = foldJournal(journal);
  const run = runOf(journal);
  if (!isFinished && run !== undefined && isAlive(run)) {
    throw new EngineError("JOURNAL_IN_USE", `Cannot recover "${journal}": its run still runs`, {
      hint: "End it first; it writes its own trace.",
    });
  }
  // The trace's id is also the mark that every process of the run carries in its environment.
  const killed = isFinished || run === undefined ? 0 : await killSurvivors(run.traceId, GRACE_MS);
  if (!isFinished && run !== undefined && usedContainers(trace.root)) await removeContainers(run.traceId);
  return { trace, journal, isTorn, killed, close: () => forget(run, stateDir) };
}

function usedContainers(record: StepRecordJson = {}): boolean {
  return record.det?.command?.[0] === "docker" || (record.children ?? []).some((child) => usedContainers(child));
}

function forget(run: RunDirectory | undefined, stateDir: string): void {
  if (run === undefined || isClosed(run)) return;
  removeTemporary(run);
  closeRunDirectories([run], stateDir);
}

function locate(given: string): string {
  const path = resolve(given);
  const journal = existsSync(path) && statSync(path).isDirectory() ? join(path, "trace.jsonl") : path;
  if (!existsSync(journal)) throw new EngineError("JOURNAL_NOT_FOUND", `Cannot find journal "${given}"`);
  return journal;
}

function newestOpen(stateDir: string): RunDirectory {
  const open = listRuns(stateDir).find((run) => !isClosed(run) && !isAlive(run) && existsSync(run.journal));
  if (open !== undefined) return open;
  throw new EngineError("JOURNAL_NOT_FOUND", "Cannot find a journal to recover: every run ended or still runs", {
    hint: "Name the journal of an ended run, or its folder.",
  });
}

/** The run that a journal lies in; none for a journal that was copied somewhere else. */
function runOf(journal: string): RunDirectory | undefined {
  const path = dirname(journal);
  const traceId = /-([0-9a-f]{32})$/.exec(basename(path))?.[1];
  return traceId === undefined ? undefined : describeRun(path, traceId);
}
