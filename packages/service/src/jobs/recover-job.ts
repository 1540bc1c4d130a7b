import { killSurvivors, listRuns, removeTemporary, type RunDirectory } from "@steps/engine/runs";
import { exitCodeOf, type Outcome } from "@steps/model";
import { parseJournal } from "@steps/trace/journal";
import { join } from "node:path";
import { engineDirectory, removeTree, runOf, VARIABLES_FOLDER, writeRecord } from "./job-folder.ts";
import { type JobRecord, shortenError } from "./job-record.ts";
import { readRegularFile } from "./regular-file.ts";
import { repairLog } from "./repair-log.ts";
import { RunnerLines } from "./runner-lines.ts";

const GRACE_MS = 2_000;
/** The size of the longest journal that is read; the engine reads as much. */
export const MAX_JOURNAL_BYTES: number = 512 * 1024 * 1024;
const INTERRUPTED = "The service ended while the job ran";

/**
 * Tells the truth about a job whose service was killed and whose processes are gone: its log is made whole, and it is
 * interrupted unless its journal says that it came to its end. Nothing is run again.
 *
 * @throws if its folder cannot be read or written
 */
export function recoverJob(folder: string, record: JobRecord, clock: () => number): JobRecord {
  const run = runOf(folder);
  const log = repairLog(folder, run);
  const known = run === undefined ? undefined : outcomeOf(run);
  const outcome: Outcome = known ?? { status: "interrupted", error: { code: "INTERRUPTED", message: INTERRUPTED } };
  if (known === undefined) new RunnerLines(folder, log, clock).tryWrite(INTERRUPTED);
  log.end();
  if (run !== undefined) removeTemporary(run);
  removeTree(join(folder, VARIABLES_FOLDER));
  const { status, error } = outcome;
  const recovered: JobRecord = {
    ...record,
    status,
    exitCode: exitCodeOf(outcome),
    finishedAt: Date.now(),
    log: log.size,
    ...(error === undefined ? {} : { error: shortenError(error) }),
  };
  writeRecord(folder, recovered);
  return recovered;
}

/** Ends what is left of the processes of all these jobs: TERM, a short grace, KILL. */
export async function endProcesses(folders: readonly string[]): Promise<void> {
  const cookies = new Set(folders.flatMap((folder) => traceIdsOf(folder)));
  if (cookies.size > 0) await killSurvivors(cookies, GRACE_MS);
}

function traceIdsOf(folder: string): string[] {
  try {
    return listRuns(engineDirectory(folder)).map(({ traceId }) => traceId);
  } catch {
    // It is damaged, and is set aside later.
    return [];
  }
}

/** How a run ended, if it told so. */
function outcomeOf(run: RunDirectory): Outcome | undefined {
  try {
    const last = parseJournal(readRegularFile(run.journal, MAX_JOURNAL_BYTES)).events.at(-1);
    return last?.type === "run-finished" ? last.outcome : undefined;
  } catch {
    // A step wrote in it, or it was not begun.
    return undefined;
  }
}
