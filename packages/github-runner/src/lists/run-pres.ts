import { childPath, type ExpandGiven, letsListGoOn, type Run, type StepEnd } from "@steps/executor/kit";
import type { StepInvocation } from "@steps/model/definition";
import type { ActionInstance } from "../job/action-instance.ts";
import { createInstance, tellPlan } from "../actions/create-instance.ts";
import type { ActionScope } from "../job/action-scope.ts";
import { allowsFailure, invocationOf, titleOf } from "./action-language.ts";
import type { PostEntry } from "../job/phase-entry.ts";
import { refusePre, runPhase } from "../actions/phases.ts";
import type { Prepared } from "./prepare-actions.ts";
import { putAside, runPhaseOf } from "./run-action.ts";

interface PreCall {
  readonly scope: ActionScope;
  readonly posts: PostEntry[];
  /** The path of the action whose list it is; empty for the job's own list. */
  readonly listPath: string;
  readonly expand: ExpandGiven;
  readonly pathOf: () => string;
  readonly titleOf: (invocation: StepInvocation) => string;
}

/** Runs what the actions of the job want done before its first step, in order; returns the first failure. */
export async function runPres(run: Run, prepared: readonly Prepared[], call: PreCall): Promise<StepEnd | undefined> {
  let failure: StepEnd | undefined;
  for (const item of prepared) {
    if (!item.action.wantsPre) continue;
    const end = await runPreOf(run, item, call);
    if (!letsListGoOn(end)) failure ??= end;
  }
  return failure;
}

async function runPreOf(run: Run, item: Prepared, call: PreCall): Promise<StepEnd> {
  const { invocation, action, index } = item;
  const { scope } = call;
  const at = call.pathOf();
  const path = childPath(call.listPath, index);
  const title = call.titleOf(invocation);
  const { reference } = action.opened;
  const mayFail = (inner: Run): boolean => allowsFailure(inner, scope, invocation);
  let instance: ActionInstance;
  try {
    const { given, env } = call.expand({ invocation, path });
    const caller: ActionScope = { ...scope, environment: scope.environment.with(env) };
    const { opened } = action;
    const { posts } = call;
    const id = invocation.name;
    instance = createInstance(run, { caller, path, title, id, opened, given, env, posts, allowsFailure: mayFail });
  } catch (error) {
    return refusePre(run, { title, reference, allowsFailure: mayFail }, { path: at, error });
  }
  scope.job.keepInstance(path, instance);
  const condition = instance.part.preIf ?? "always()";
  const runIt = async (inner: Run): Promise<StepEnd> => {
    await action.opened.bring?.();
    tellPlan(inner, instance, at);
    putAside(instance);
    if (action.nested.length === 0) return runPhaseOf(inner, instance, { phase: "pre", path: at });
    return runNestedPres(inner, action.nested, { instance, at });
  };
  const entry = { title, reference, scope: instance.scope, condition, allowsFailure: mayFail, run: runIt };
  return runPhase(run, entry, { path: at, phase: "pre" });
}

async function runNestedPres(
  run: Run,
  nested: readonly Prepared[],
  { instance, at }: { readonly instance: ActionInstance; readonly at: string },
): Promise<StepEnd> {
  const { scope, posts, call } = instance;
  let count = 0;
  const failure = await runPres(run, nested, {
    scope,
    posts,
    listPath: call.path,
    expand: ({ invocation }) => invocationOf(run, scope, invocation),
    pathOf: () => `${at}/${count++}`,
    titleOf,
  });
  return { outcome: failure?.outcome ?? { status: "success" }, outputs: {}, exports: {} };
}
