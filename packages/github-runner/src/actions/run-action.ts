import { join } from "node:path";
import { ExecuteError, letsListGoOn, type Run, type StepEnd, tell } from "@steps/executor/kit";
import { evaluateText } from "@steps/github-language";
import { createObject, type EnvironmentRecord, revealString, type RuntimeString, sensitive } from "@steps/model";
import { jobVariable } from "../job/action-job.ts";
import { type ActionCommand, runActionProcess } from "../process/action-process.ts";
import { inputEnvironment, stateEnvironment } from "./action-inputs.ts";
import { outsideOfContainer } from "../containers/job-container.ts";
import { type ActionCall, type ActionInstance, createInstance, tellPlan } from "./action-instance.ts";
import { runComposite } from "./composite.ts";
import { runContainer } from "../containers/container.ts";
import { nodeCommand } from "../process/node-command.ts";
import { mayNeedServices } from "../process/may-need-services.ts";
import { type PostEntry, runPhase, runPosts } from "../job/post-steps.ts";
import { runScript } from "../process/run-script.ts";
import { evaluationOf } from "./action-scope.ts";

/** The phases of an action. */
export type ActionPhase = "pre" | "main" | "post";

/** Carries out an item that is an action, or a script among actions; what it wants done afterwards is put aside. */
export async function runAction(run: Run, call: ActionCall, prepared?: ActionInstance): Promise<StepEnd> {
  const { definition } = call.opened.specDefinition;
  if (definition.type === "exec" && definition.github?.using === "run") {
    const scope = { ...call.caller, path: call.path };
    tellPlan(run, { call, inputs: {} }, call.path);
    return runScript(run, scope, { definition, id: call.caller.job.takeId(call.id === "" ? "__run" : call.id) });
  }
  const instance = createInstance(run, call, prepared);
  // A step that is tried again is the same: what it began is ended once.
  call.caller.job.keepInstance(call.path, instance);
  await instance.call.opened.bring?.();
  if (prepared === undefined) await runPreInPlace(run, instance);
  tellPlan(run, instance, call.path);
  putAside(instance);
  return runPhaseOf(run, instance, { phase: "main", path: call.path });
}

// Of an action that nobody knew of before the job's first step.
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
      // What the runner does itself has nothing to clean up unless it says so.
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
  if (part.using === "docker") return runContainer(run, instance, { phase, path });
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

// A program of the runner's own: it is told the phase and the job variables that its definition names, and else as an action is;
// but names have no hyphens, as a shell may start it, which drops such variables.
function nativeCommand(
  run: Run,
  { call, definition, scope }: ActionInstance,
  { phase, env }: { readonly phase: ActionPhase; readonly env: EnvironmentRecord },
): ActionCommand {
  if (definition.type !== "exec") throw new ExecuteError("REFERENCE_INVALID", "the action has no command");
  const words = definition.command.map((word) => evaluateText(word, evaluationOf(run, scope)));
  const [name = "", ...rest] = words;
  const command: RuntimeString[] = [name, ...rest, ...(phase === "main" ? [] : [phase])];
  const all = createObject<RuntimeString>();
  const seen = scope.job.container === undefined ? env : outsideOfContainer(env, scope.environment, run);
  for (const [variable, value] of Object.entries(seen)) {
    all[variable.startsWith("INPUT_") ? variable.replaceAll("-", "_") : variable] = value;
  }
  // What nobody asked anything of does without: a replay would have to be given them again.
  const wanted = Object.keys(call.given).length === 0 ? [] : Object.keys(definition.env);
  for (const variable of wanted) {
    const value = jobVariable(run, variable);
    if (value !== undefined) all[variable] = definition.env[variable] === "secret" ? sensitive(value) : value;
  }
  // It is no part of the job: git finds the user's own configuration.
  const { HOME } = process.env;
  if (HOME !== undefined && revealed(all["HOME"]) === scope.job.dirs.home) all["HOME"] = HOME;
  return { command, program: join(call.opened.dir, name), workDir: run.job.workDir, env: all };
}

function revealed(value: RuntimeString | undefined): string {
  return value === undefined ? "" : revealString(value);
}

async function runNestedPosts(run: Run, { posts }: ActionInstance, path: string): Promise<StepEnd> {
  let count = 0;
  const failure = await runPosts(run, posts, { pathOf: () => `${path}/${count++}` });
  return { outcome: failure?.outcome ?? { status: "success" }, outputs: {}, exports: {} };
}
