import { type Run, TimedOut } from "@steps/executor/kit";
import { type Contexts, type EvaluateOptions } from "@steps/github-language";
import { createObject, mapObject, revealString, type Status, type Value } from "@steps/model";
import type { Environment } from "@steps/model/environment";
import type { ActionJob } from "./action-job.ts";
import { hashFiles } from "./hash-files.ts";

/** The place of texts in GitHub's language: it decides what their expressions see. */
export interface ActionScope {
  readonly job: ActionJob;
  /** The path of the step that is run, or of the action whose steps are. */
  readonly path: string;
  readonly depth: number;
  readonly inputs: Readonly<Record<string, Value>>;
  readonly environment: Environment;
  /** The results of the steps so far, by id: `{outputs, outcome, conclusion}`. */
  readonly steps: Record<string, Value>;
  readonly action: RunningAction;
  /** Gives the status of the composite action; absent outside of one. */
  readonly status?: () => Status;
  /** The texts are those of a workflow's job: they see its `secrets`, `vars` and `needs`, which no action does. */
  readonly isJob: boolean;
}

/** The action that a step is, or belongs to. */
export interface RunningAction {
  /** The folder of its manifest; absent outside of composite actions. */
  readonly dir: string | undefined;
  /** The folder of the component that the action is in, for `$/`. */
  readonly root: string | undefined;
  /** The repository as `owner/repo`; empty for an action from elsewhere, as is `ref`, its version. */
  readonly repository: string;
  readonly ref: string;
}

/** No action: where the job's own steps are. */
export const NO_ACTION: RunningAction = { dir: undefined, root: undefined, repository: "", ref: "" };

/** The status of the job so far. */
function jobStatusOf(run: Run): Status {
  if (run.state.isCancelled) return "cancelled";
  return run.state.hasFailed ? "failure" : "success";
}

/** `github` as an expression and a process of this place see it. */
export function githubOf(scope: ActionScope, id: string): Readonly<Record<string, Value>> {
  const { job, action, status } = scope;
  const { dir, repository, ref } = action;
  return {
    ...job.description.github,
    action: id,
    action_ref: ref,
    action_repository: repository,
    ...(dir === undefined ? {} : { action_path: dir }),
    ...(status === undefined ? {} : { action_status: status() }),
    token: job.host.token === undefined ? "" : revealString(job.host.token),
    event: job.description.event,
  };
}

/** Every context is there, though most places have nothing in some: GitHub's own runner refuses no action for that. */
export const NOTHING: Contexts = {
  github: null,
  env: null,
  inputs: null,
  steps: null,
  runner: null,
  job: null,
  strategy: null,
  matrix: null,
  needs: null,
  vars: null,
  secrets: null,
  jobs: null,
};

// The secrets that the job can grant.
function secretsOf(run: Run, job: ActionJob): Value {
  const { token } = job.host;
  const granted = mapObject(run.job.grants ?? {}, revealString);
  return { ...(token === undefined ? {} : { GITHUB_TOKEN: revealString(token) }), ...granted };
}

/** The contexts and functions of an evaluation in this place. The status functions have no answers there. */
export function evaluationOf(
  run: Run,
  scope: ActionScope,
  overrides: { readonly environment?: Environment; readonly id?: string } = {},
): EvaluateOptions {
  const { job, inputs, steps } = scope;
  const environment = overrides.environment ?? scope.environment;
  const contexts: Contexts = {
    ...NOTHING,
    ...(scope.isJob ? { ...job.contexts, secrets: () => secretsOf(run, job) } : {}),
    github: () => githubOf(scope, overrides.id ?? ""),
    runner: () => job.description.runner,
    env: () => mapObject(environment.declared(), revealString) as Value,
    inputs,
    steps,
    job: () => ({ ...(job.contexts["job"] as object | undefined), status: jobStatusOf(run) }),
    strategy: job.contexts["strategy"] ?? createObject<Value>(),
    matrix: job.contexts["matrix"] ?? null,
  };
  const { workDir } = run.job;
  return { contexts, hashFiles: (patterns) => hashFiles(patterns, { workspace: workDir, signal: run.signal }) };
}

/** The contexts of an input's default: nothing that the caller has not meant for the action. */
export function evaluationOfDefault(run: Run, scope: ActionScope): EvaluateOptions {
  const { contexts, ...rest } = evaluationOf(run, scope);
  const seen = DEFAULT_CONTEXTS.map((name) => [name, contexts[name] ?? null] as const);
  return { ...rest, contexts: { ...NOTHING, ...Object.fromEntries(seen) } };
}

const DEFAULT_CONTEXTS = ["github", "runner", "job", "strategy", "matrix"] as const;

/** The answers of the status functions for a step of this place. */
export function statusOf(run: Run, scope: ActionScope, isPhase: boolean): NonNullable<EvaluateOptions["status"]> {
  const { aborted, reason } = run.signal;
  // A step whose own time is over is not cancelled. When the time of the job is over, the state of the run says so.
  const isCancelled = run.state.isCancelled || (aborted && run.isCleanUp !== true && !(reason instanceof TimedOut));
  const status = isPhase || scope.status === undefined ? jobStatusOf(run) : scope.status();
  return {
    isSuccess: status === "success" && !isCancelled,
    isFailure: status === "failure",
    isCancelled,
  };
}
