import { itemsOf, LeftProcesses, type Level, type Run, type StepEnd, StepList } from "@steps/executor/kit";
import { createObject, type Value } from "@steps/model";
import type { StepsDefinition } from "@steps/model/definition";
import { evaluateText } from "@steps/github-language";
import { mapObject, type RuntimeString } from "@steps/model";
import type { ActionJob } from "../job/action-job.ts";
import { type ActionScope, evaluationOf, NO_ACTION } from "../job/action-scope.ts";
import { actionLanguage, invocationOf, titleOf } from "./action-language.ts";
import { outputsOf } from "./composite.ts";
import type { OpenContainers, WantedContainers } from "../containers/open-job-containers.ts";
import { runPostsOfJob } from "../actions/phases.ts";
import { prepareActions } from "./prepare-actions.ts";
import { runAction } from "./run-action.ts";
import { runPres } from "./run-pres.ts";

/** The job of a workflow, and the state of the actions of its run. */
export interface WorkflowJob {
  readonly definition: StepsDefinition;
  readonly job: ActionJob;
}

/**
 * Runs a job of a GitHub workflow: what its actions want before, its steps, what its actions want afterwards. What a step leaves
 * running lives until then.
 */
export async function runWorkflowJob(run: Run, level: Level, own: WorkflowJob): Promise<StepEnd> {
  const left = new LeftProcesses();
  try {
    return await runInside({ ...run, left }, level, own);
  } finally {
    const { cookie, hurry } = run;
    await left.end(cookie, hurry);
  }
}

async function runInside(run: Run, level: Level, { definition, job }: WorkflowJob): Promise<StepEnd> {
  job.contexts = definition.github?.contexts ?? createObject<Value>();
  const inputs = job.contexts["inputs"];
  const scope: ActionScope = {
    job,
    path: level.path,
    depth: 0,
    inputs: (typeof inputs === "object" ? inputs : {}) as Readonly<Record<string, Value>>,
    environment: withHome(level, job),
    steps: createObject<Value>(),
    action: NO_ACTION,
    isJob: true,
  };
  exportEnv(run, scope, definition.env);
  const prepared = await prepareActions(run, { invocations: definition.steps, dir: level.dir, root: level.root });
  const { container, services } = definition.github ?? {};
  const hasContainers = container !== undefined || services !== undefined;
  const containers = hasContainers ? await openContainers(run, scope, { container, services }) : undefined;
  try {
    if (containers?.failure !== undefined) return containers.failure;
    const { base } = containers ?? {};
    const inside = base === undefined ? scope : { ...scope, environment: scope.environment.above(base) };
    return await runPhases(run, level, { definition, prepared, scope: inside });
  } finally {
    await containers?.close();
  }
}

// Actions that clean up change files in the home folder: those must not be the user's own.
function withHome({ environment }: Level, { dirs }: ActionJob): Level["environment"] {
  if (Object.hasOwn(environment.base, "HOME")) return environment;
  return environment.above({ ...environment.base, HOME: dirs.home });
}

// Few jobs have any.
async function openContainers(
  run: Run,
  scope: ActionScope,
  wanted: WantedContainers,
): Promise<OpenContainers | undefined> {
  const { openJobContainers } = await import("../containers/open-job-containers.ts");
  return openJobContainers(run, scope, wanted);
}

interface OpenJob {
  readonly definition: StepsDefinition;
  readonly prepared: Awaited<ReturnType<typeof prepareActions>>;
  readonly scope: ActionScope;
}

async function runPhases(run: Run, { dir, root }: Level, { definition, prepared, scope }: OpenJob): Promise<StepEnd> {
  const { job } = scope;
  const { posts } = job;
  const list = new StepList(run, actionLanguage(run, { scope, dir, root, posts, runAction }));
  const before = await runPres(run, prepared, {
    scope,
    posts,
    listPath: "",
    expand: ({ invocation }) => invocationOf(run, scope, invocation),
    pathOf: () => String(run.state.nextPhase++),
    titleOf,
  });
  if (before !== undefined) list.fail(before.outcome);
  await list.runInOrder(itemsOf(scope.path, definition.steps));
  const after = await runPostsOfJob(run, job);
  if (after !== undefined) list.fail(after);
  const outputs = outputsOf(run, scope, definition.outputs);
  return { outcome: list.outcome ?? { status: "success" }, outputs, exports: list.exports };
}

// The variables are below what steps write to GITHUB_ENV, which wins over them.
function exportEnv(run: Run, scope: ActionScope, env: Readonly<Record<string, string>>): void {
  const evaluation = evaluationOf(run, scope);
  scope.environment.export(mapObject(env, (text): RuntimeString => evaluateText(text, evaluation)));
}
