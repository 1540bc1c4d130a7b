import type { ActionInvocations, ActionItem, Level, Run, StepEnd } from "@steps/executor/kit";
import { createObject, type Value } from "@steps/model";
import { formatAction, type StepReference } from "@steps/model/reference";
import type { ActionJob } from "../job/action-job.ts";
import { type ActionScope, NO_ACTION } from "../job/action-scope.ts";
import { prepareActions } from "./prepare-actions.ts";
import { runAction } from "./run-action.ts";
import { runPres } from "./run-pres.ts";

/** Runs an action that an item of one of our own lists names. Its inputs were expanded in our language and are literal now. */
export async function runActionStep(
  run: Run,
  level: Pick<Level, "path" | "environment">,
  item: ActionItem & { readonly job: ActionJob },
): Promise<StepEnd> {
  const { invocation, opened, given, env, job } = item;
  job.noteAttempt(level.path, item.path);
  const caller = scopeOfList(job, level);
  const { name } = invocation;
  const title = titleOf(name, opened.reference);
  const mayFail = (): boolean => invocation.control?.continueOnError === true;
  const { path } = level;
  const call = { caller, path, title, id: name, opened, given, env, posts: job.posts, allowsFailure: mayFail };
  return runAction(run, call, job.instanceAt(path));
}

/** Before the first step of a job of ours that names actions. */
export async function prepareActionsOfJob(
  run: Run,
  level: Level,
  list: ActionInvocations & { readonly jobOf: (run: Run) => Promise<ActionJob> },
): Promise<StepEnd | undefined> {
  const { invocations, expand, jobOf } = list;
  const prepared = await prepareActions(run, { invocations, dir: level.dir, root: level.root });
  if (prepared.length === 0) return undefined;
  const job = await jobOf(run);
  const scope = scopeOfList(job, level);
  return runPres(run, prepared, {
    scope,
    posts: job.posts,
    listPath: "",
    expand,
    pathOf: () => String(run.state.nextPhase++),
    titleOf: ({ name, step }) => titleOf(name, step),
  });
}

function scopeOfList(job: ActionJob, level: Pick<Level, "path" | "environment">): ActionScope {
  return {
    job,
    path: level.path,
    depth: 0,
    inputs: createObject<Value>(),
    environment: level.environment,
    steps: createObject<Value>(),
    action: NO_ACTION,
    isJob: false,
  };
}

function titleOf(name: string, reference: StepReference): string {
  if (name !== "") return name;
  return reference.kind === "action" ? formatAction(reference) : "";
}
