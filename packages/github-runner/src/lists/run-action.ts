import { ExecuteError, letsListGoOn, type Run, type StepEnd, tell } from "@steps/executor/kit";
import type { EnvironmentRecord } from "@steps/model/environment";
import { runActionProcess } from "../process/action-process.ts";
import type { ActionCall, ActionInstance, ActionPhase } from "../job/action-instance.ts";
import type { PostEntry } from "../job/phase-entry.ts";
import { inputEnvironment, stateEnvironment } from "../actions/action-inputs.ts";
import { createInstance, tellPlan } from "../actions/create-instance.ts";
import { nativeCommand } from "../programs/native-command.ts";
import { runComposite } from "./composite.ts";
import { runDockerAction } from "../programs/docker-action.ts";
import { nodeCommand } from "../programs/node-command.ts";
import { mayNeedServices } from "../programs/may-need-services.ts";
import { runPhase, runPosts } from "../actions/phases.ts";
import { runScript } from "../programs/run-script.ts";

/** Carries out an item that is an action, or a script among actions; what it wants done afterwards is put aside. */
export async function runAction(run: Run, call: ActionCall, prepared?: ActionInstance): Promise<StepEnd> {
  const { definition } = call.opened.specDefinition;
  if (definition.type === "exec" && definition.github?.using === "run") {
    const scope = { ...call.caller, path: call.path };
    tellPlan(run, { call, inputs: {} }, call.path);
    return runScript(run, scope, { definition, id: call.caller.job.takeId(call.id === "" ? "__run" : call.id) });
  }
  const instance = createInstance(run, call, prepared);
  // All attempts share one instance, so its `post` runs once.
  call.caller.job.keepInstance(call.path, instance);
  await instance.call.opened.bring?.();
  if (prepared === undefined) await runPreInPlace(run, instance);
  tellPlan(run, instance, call.path);
  putAside(instance);
  return runPhaseOf(run, instance, { phase: "main", path: call.path });
}

// The `pre` of an action that nobody knew of before the job's first step.
async function runPreInPlace(run: Run, instance: ActionInstance): Promise<void> {
  const { part, call, scope } = instance;
  if (part.pre === undefined) return;
  const { reference } = call.opened;
  if (reference.kind === "action" && reference.source === "workspace") {
    const message = `The "pre" of an action in the workspace is not run: it is there only when the job has begun`;
    tell(run, { type: "note", at: Date.now(), path: call.path, level: "warning", code: "action-pre", message });
    return;
  }
  const condition = part.preIf ?? "always()";
  const runIt = (inner: Run, path: string): Promise<StepEnd> => {
    tellPlan(inner, instance, path);
    putAside(instance);
    return runPhaseOf(inner, instance, { phase: "pre", path });
  };
  const { title, allowsFailure } = call;
  const entry = { title, reference, scope, condition, run: runIt, allowsFailure };
  const end = await runPhase(run, entry, { path: String(run.state.nextPhase++), phase: "pre" });
  if (letsListGoOn(end)) return;
  const { status, error } = end.outcome;
  throw new ExecuteError("PHASE_FAILED", `pre: ${error?.message ?? status}`);
}

/** Registers what the action wants done afterwards, the moment its first phase starts. */
export function putAside(instance: ActionInstance): void {
  const { call, part, posts } = instance;
  const isComposite = instance.definition.type === "steps";
  if (instance.isPutAside || (!isComposite && part.post === undefined)) return;
  instance.isPutAside = true;
  const entry: PostEntry = {
    title: call.title,
    reference: call.opened.reference,
    // After a pre, the main phase has other inputs and another environment.
    get scope() {
      return isComposite ? instance.call.caller : instance.scope;
    },
    condition: part.postIf ?? "always()",
    allowsFailure: call.allowsFailure,
    isNeeded: () => {
      if (isComposite) return posts.some((post) => post.isNeeded());
      // A program of the runner's own has nothing to clean up unless it has saved a state.
      return part.using !== "native" || instance.state.size > 0;
    },
    run: (run, path) => {
      tellPlan(run, instance, path);
      return runPhaseOf(run, instance, { phase: "post", path });
    },
  };
  call.posts.push(entry);
}

/** One phase of an action whose condition holds. */
export async function runPhaseOf(
  run: Run,
  instance: ActionInstance,
  { phase, path }: { readonly phase: ActionPhase; readonly path: string },
): Promise<StepEnd> {
  const { part, definition } = instance;
  if (definition.type === "steps") {
    return phase === "post" ? runNestedPosts(run, instance, path) : runComposite(run, instance, { path, runAction });
  }
  if (part.using === "docker") return runDockerAction(run, instance, { phase, path });
  const { scope, inputs, state, id, call } = instance;
  const isNode = part.using.startsWith("node");
  const file = phase === "pre" ? part.pre : phase === "post" ? part.post : definition.command[1];
  const services = isNode && mayNeedServices(call.opened, file) ? await scope.job.services() : {};
  const env = { ...services, ...stateEnvironment(state), ...inputEnvironment(inputs) };
  const stepDir = call.opened.dir;
  const command = isNode
    ? (all: EnvironmentRecord) =>
        nodeCommand(run, { scope, stepDir, root: call.opened.root, using: part.using, file: file ?? "", env: all })
    : (all: EnvironmentRecord) => nativeCommand(run, instance, { phase, env: all });
  return runActionProcess(run, { scope: { ...scope, path }, id, env, state, stepDir, command });
}

async function runNestedPosts(run: Run, { posts }: ActionInstance, path: string): Promise<StepEnd> {
  let count = 0;
  const failure = await runPosts(run, posts, { pathOf: () => `${path}/${count++}` });
  return { outcome: failure?.outcome ?? { status: "success" }, outputs: {}, exports: {} };
}
