// The folders of runs: to find them, to end what a killed runner left, and to read their journals.
export { killSurvivors, PipeReserve, Reaper, Spawner } from "@steps/executor";
export { type Directories, privateDirectory, stateFailure, userDirectories } from "../directories.ts";
export { foldJournal, type FoldedJournal } from "../fold-journal.ts";
export { describeKept, type KeptDirectory, keptDirectories, keptNamed, type KeptRun } from "../kept/kept-run.ts";
export { type KeptTrace, readKeptTrace } from "../kept/kept-trace.ts";
export { verdictOf } from "../replay.ts";
export { reaperCommand, reapRuns } from "../reap-runs.ts";
export { listRuns, ownerOf, removeTemporary, type RunDirectory } from "../run-directory.ts";
