import { errors, output, progressMode } from "@steps/console/terminal";
import type { Engine, RunHooks } from "@steps/engine";
import type { JobView } from "@steps/pipeline-view";
import { githubOptions } from "../flags/github-flags.ts";
import type { RunOptions } from "../flags/run-flags.ts";
import type { JobPlace } from "../job-containers/place-job.ts";
import { type JobRun, runPlacedJob } from "../job-containers/run-placed-job.ts";
import type { StopSignals } from "../signals.ts";
import type { AttemptTerms } from "./attempt-terms.ts";
import { type CommandJob, withFlags } from "./command-job.ts";
import type { CoverageReader } from "./coverage.ts";
import { describeFetch, Progress } from "./progress.ts";

/** The values of flags that are not given, as far as one attempt has to know them. */
export interface AttemptDefaults {
  /** How long the job may take, in milliseconds. Default: as long as it needs. */
  readonly timeoutMs?: number;
  /** The place where the job runs. Default: this machine. */
  readonly place?: JobPlace;
  /** The terms that the job runs on. Default: it is tried once, and its failure is that of the command. */
  readonly terms?: AttemptTerms;
  /** Hears the events of all attempts. Default: nobody does. */
  readonly onEvent?: (event: Parameters<NonNullable<RunHooks["onEvent"]>>[0]) => void;
  /** Whether a shell is opened where the job has failed, after its last attempt. Default: no. */
  readonly hasShell?: boolean;
}

/** One attempt of a job. */
export interface Attempt {
  readonly job: CommandJob;
  /** The number of the attempt, from 1. */
  readonly attempt: number;
  readonly engine: Engine;
  readonly stop: StopSignals;
  readonly coverage: CoverageReader | undefined;
  /** Whether standard output is left to a report. */
  readonly hasReport: boolean;
  readonly wantsResult: boolean;
  readonly wantsTrace: boolean;
  readonly defaults: AttemptDefaults;
}

/** The end of an attempt. */
export interface AttemptEnd {
  readonly run: JobRun;
  /** The view that has shown it. Absent where none was wanted. */
  readonly view: JobView | undefined;
}

/** Runs a job once and shows it. */
export async function attemptJob(
  options: RunOptions,
  { job: given, attempt, engine, stop, coverage, hasReport, wantsResult, wantsTrace, defaults }: Attempt,
): Promise<AttemptEnd> {
  const mode = progressMode(options);
  // It is worth loading only where somebody looks at it.
  const view =
    mode === "tree" || mode === "plain" ? new (await import("@steps/pipeline-view")).JobView(mode) : undefined;
  const progress = new Progress(mode === "quiet", { hasView: view !== undefined });
  const job = withFlags(options, given);
  const { terms, hasShell = false } = defaults;
  const running = runPlacedJob(engine, options, {
    place: defaults.place,
    isPrivate: job.workspace !== undefined,
    options: {
      job,
      github: githubOptions(options),
      isLenient: options.lenient,
      timeoutMs: options.timeout ?? defaults.timeoutMs,
      graceMs: options.grace,
      hurry: stop.hurry,
    },
    hooks: {
      onEvent: (event) => {
        view?.onEvent(event);
        progress.onEvent(event);
        defaults.onEvent?.(event);
      },
      onProgress: view
        ? (path, reference, fetch) => view.tellFetch(path, `fetching ${describeFetch(reference, fetch)}`)
        : progress.onProgress,
      onStep: view?.onStep ?? progress.onStep,
      onOutput: (stream, chunk, path) => {
        coverage?.write(stream, chunk);
        const writer = stream === "stdout" && !hasReport ? output : errors;
        return view === undefined ? writer.write(chunk) : view.write(writer, stream, chunk, path);
      },
      wantsResult,
      wantsTrace,
    },
    signal: stop.signal,
    atEnd: async (outcome, container) => {
      if (!hasShell || terms?.isRetried(outcome, attempt) === true) return;
      view?.suspend();
      const { FailureShells } = await import("../failure-shell/failure-shells.ts");
      await new FailureShells().open({ job, outcome, container }, stop.signal);
    },
  });
  try {
    return { run: await running, view };
  } finally {
    view?.finish();
  }
}
