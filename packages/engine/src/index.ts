export {
  AMBIENT_NAMES,
  ambientEnvironment,
  jobVariables,
  logLevel,
  matchingVariables,
  offeredEnvironment,
  secretVariableNames,
} from "./base-environment.ts";
export { CHECK_RULES, type CheckCode } from "./check/check-rules.ts";
export type { CheckedTree, CheckReference, CheckRoot } from "./check/check-steps.ts";
export type { CheckedStep } from "./check/checked-step.ts";
export { type ComponentSource, parseComponentSource, type SourceProblem } from "./components/component-source.ts";
export { formatLock, type Lock, type LockedComponent, lockedOf, parseLock } from "./components/lock.ts";
export { createEngine, type Engine, type EngineOptions } from "./create-engine.ts";
export type { LoadOptions } from "./load-options.ts";
export { type Directories, privateDirectory, userDirectories } from "./directories.ts";
export { CompileError, EngineError, type EngineErrorCode } from "./engine-error.ts";
export { foldJournal, type FoldedJournal } from "./fold-journal.ts";
export { describeJob } from "./github/describe-job.ts";
export { type GitFacts, readGitFacts } from "./github/git-facts.ts";
export { sharedArtifacts } from "./github/shared-artifacts.ts";
export type { GithubOptions } from "./github/github-options.ts";
export { type JobVariables, type MarkedVariables, markVariables } from "./job-secrets.ts";
export type { TraceSync } from "./journal-file.ts";
export type { FetchProgress } from "./load-step.ts";
export { reaperCommand, reapRuns } from "./reap-runs.ts";
export type { Recovered } from "./recover.ts";
export {
  planReplay,
  type PlannedComponent,
  type ReplayOptions,
  type ReplayReport,
  type ReplayVerdict,
} from "./replay.ts";
export type { RunHooks, RunOptions, RunResult } from "./run.ts";
export { listRuns, ownerOf, removeTemporary, type RunDirectory } from "./run-directory.ts";
export type { OutputListener, StoredOutput } from "./step-log-file.ts";
export { Cancelled, killSurvivors, PipeReserve, Reaper } from "@steps/executor";
