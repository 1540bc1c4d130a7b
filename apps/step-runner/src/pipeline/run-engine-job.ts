import type { RunHooks, RunResult } from "@steps/engine";
import type { GithubOptions } from "@steps/engine/github";
import type { AttemptOf } from "@steps/engine/pipeline";
import type { Outcome } from "@steps/model";
import type { JobResult } from "@steps/pipeline";
import { type CommandJob, withFlags } from "../run-job.ts";
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
}

/** Runs a job of a pipeline to its end, with its output behind its name. */
export async function runEngineJob(
  { options, engine, stop, view, recording }: PipelineContext,
  { of, job, secrets = options.secret, github, timeoutMs, onEvent }: EngineJob,
  signal: AbortSignal,
): Promise<RunResult> {
  const writers = view.outputOf(job.name ?? "");
  const request = {
    job: withFlags({ ...options, secret: secrets }, job),
    github,
    isLenient: options.lenient,
    timeoutMs: options.timeout ?? timeoutMs,
    graceMs: options.grace,
    hurry: stop.hurry,
  };
  const watch: RunHooks = { onOutput: (stream, chunk) => writers[stream].write(chunk), onEvent };
  const result = await recording.attempt(of, watch, (hooks) => engine.run(request, hooks, signal));
  await writers.end();
  return result;
}

/** The result of a job by how its run ended. */
export function jobResultOf({ outcome, exitCode }: Pick<RunResult, "outcome" | "exitCode">): JobResult {
  const { status, error }: Outcome = outcome;
  if (status === "success") return { status };
  const reason = error?.message ?? `The job ended: ${status}`;
  if (status === "cancelled" || status === "skipped") return { status, reason };
  return { status: "failure", reason, exitCode };
}
