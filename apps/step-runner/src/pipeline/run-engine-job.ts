import type { RunHooks } from "@steps/engine";
import type { GithubOptions } from "@steps/engine/github";
import type { AttemptOf } from "@steps/engine/pipeline";
import type { Outcome } from "@steps/model";
import type { JobResult } from "@steps/pipeline";
import type { JobRecord } from "@steps/pipeline-view";
import type { CoverageReader } from "../run/coverage.ts";
import type { JobPlace } from "../job-containers/place-job.ts";
import { type JobRun, type PlacedRun, runPlacedJob } from "../job-containers/run-placed-job.ts";
import { hasFailed } from "../run/has-failed.ts";
import { type CommandJob, withFlags } from "../run/command-job.ts";
import type { PipelineContext } from "./pipeline-context.ts";

/** One job of a pipeline, as the engine runs it. */
export interface EngineJob {
  /** The instance that runs. */
  readonly of: AttemptOf;
  readonly job: CommandJob;
  /** The secrets that it can grant. Default: those of the flags. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The facts that actions are told. Default: those that the job variables tell. */
  readonly github?: GithubOptions;
  /** The time limit that the job has of its own, in milliseconds; that of the flag wins. Default: none. */
  readonly timeoutMs?: number | undefined;
  readonly onEvent?: RunHooks["onEvent"];
  /** Given the output of the job as it is shown. Default: nobody is. */
  readonly coverage?: CoverageReader | undefined;
  /** The place where the job runs. Default: this machine. */
  readonly place?: JobPlace;
  /** Whether the job is run once more after this outcome. Default: never. */
  readonly isRetried?: (outcome: Outcome) => boolean;
}

/** Runs a job of a pipeline to its end, with its output behind its name. */
export async function runEngineJob(
  { options, engine, stop, view, recording, shells, workspaceOf, prepareWorkspace }: PipelineContext,
  { of, job, secrets = options.secret, github, timeoutMs, onEvent, coverage, place, isRetried }: EngineJob,
  signal: AbortSignal,
): Promise<JobRun> {
  const writers = view.outputOf(job.name ?? "");
  const request = {
    job: withFlags({ ...options, secret: secrets }, { ...job, workspace: workspaceOf(job.workDir) }),
    github,
    isLenient: options.lenient,
    timeoutMs: options.timeout ?? timeoutMs,
    graceMs: options.grace,
    hurry: stop.hurry,
  };
  const isPrivate = !options.inPlace;
  const name = `${of.path}${of.instance}`;
  const record = view.recordJob();
  const onOutput: PlacedRun["hooks"]["onOutput"] = (stream, chunk, stepPath) => {
    coverage?.write(stream, chunk);
    record?.onOutput(chunk, stepPath);
    return writers[stream].write(chunk);
  };
  const tell: RunHooks["onEvent"] = (event) => {
    view.onStepEvent(name, event);
    record?.onEvent(event);
    if (!options.quiet && isWarningOfPlace(event)) void writers.stderr.write(Buffer.from(`${event.message}\n`));
    if (event.type === "process-started") prepareWorkspace();
    onEvent?.(event);
  };
  const isLast = (outcome: Outcome): boolean => isRetried?.(outcome) !== true;
  const atEnd: PlacedRun["atEnd"] = async (outcome, container) => {
    if (shells === undefined || !isLast(outcome)) return;
    await writers.end();
    await view.suspended(() => shells.open({ job: request.job, outcome, container }, signal));
  };
  const result = await recording.attempt(of, { onEvent: tell }, (hooks) =>
    runPlacedJob(engine, options, {
      place,
      options: request,
      hooks: { ...hooks, onOutput },
      signal,
      isPrivate,
      atEnd,
    }),
  );
  await writers.end();
  if (record !== undefined && hasFailed(result.outcome) && isLast(result.outcome))
    view.explain(name, await explanationOf(record, job, result));
  return result;
}

async function explanationOf(record: JobRecord, job: CommandJob, { directory }: JobRun): Promise<string> {
  const { explainFailure } = await import("../run/explain-failure.ts");
  return explainFailure(record, { job, traceId: directory.traceId, outputFile: undefined });
}

type RunEvent = Parameters<NonNullable<RunHooks["onEvent"]>>[0];

/** Whether a note says that an image is ignored, or what is wrong with a container. */
function isWarningOfPlace(event: RunEvent): event is Extract<RunEvent, { readonly type: "note" }> {
  return event.type === "note" && event.level === "warning" && PLACE_NOTES.has(event.code);
}

const PLACE_NOTES: ReadonlySet<string> = new Set(["container-warning", "image-ignored", "services-ignored"]);

/** The result of a job by how its run ended. */
export function jobResultOf({ outcome, exitCode }: Pick<JobRun, "outcome" | "exitCode">): JobResult {
  const { status, error }: Outcome = outcome;
  if (status === "success") return { status };
  const reason = error?.message ?? `The job ended: ${status}`;
  if (status === "cancelled" || status === "skipped") return { status, reason };
  return { status: "failure", reason, exitCode };
}
