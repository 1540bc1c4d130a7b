import { placesOf, type Run, StepFiles, tell, withoutCredentials } from "@steps/executor/kit";
import { createObject, mapObject, reveal, type Value } from "@steps/model";
import type { StepInvocation } from "@steps/model/definition";
import type { StepReference } from "@steps/model/reference";
import { resolveActionInputs, tellInputProblems } from "./action-inputs.ts";
import type { ActionCall, ActionInstance } from "../job/action-instance.ts";
import type { ActionScope, RunningAction } from "../job/action-scope.ts";

/**
 * Resolves the inputs of an action for its main phase and those after it. If its `pre` has run, it is the same instance with
 * the same folder and state, and its `post`, which was put aside then, sees the new inputs.
 */
export function createInstance(run: Run, wanted: ActionCall, before?: ActionInstance): ActionInstance {
  const call: ActionCall = before === undefined ? wanted : { ...wanted, opened: before.call.opened };
  const { caller, opened, given } = call;
  const { definition, spec } = opened.specDefinition;
  const part = definition.github ?? { using: "" };
  if (before === undefined) tellInputProblems(run, call);
  const inputs = resolveActionInputs(run, { ...caller, path: call.path }, { spec, given });
  tellMissingToken(run, call, { part, inputs });
  const scope: ActionScope = {
    ...caller,
    path: call.path,
    depth: caller.depth + 1,
    inputs: mapObject(inputs, (value): Value => reveal(value)),
    steps: createObject<Value>(),
    action: runningAction(call),
    isJob: false,
  };
  if (before !== undefined) return Object.assign(before, { call, definition, part, inputs, scope });
  const id = caller.job.takeId(wantedId({ name: call.id, step: opened.reference }));
  return { call, definition, part, inputs, scope, id, state: new Map(), posts: [], isPutAside: false };
}

const TOKEN = /\bgithub\s*\.\s*token\b/i;

// Most actions without a token say nothing about it, and are slower or fail.
function tellMissingToken(
  run: Run,
  { caller, opened, path }: ActionCall,
  of: Pick<ActionInstance, "part" | "inputs">,
): void {
  const { job } = caller;
  if (job.hasMissedToken || job.host.token !== undefined || of.part.using === "native") return;
  const asks = Object.entries(opened.specDefinition.spec.inputs).some(([name, { default: text }]) => {
    return typeof text === "string" && TOKEN.test(text) && of.inputs[name] === "";
  });
  if (!asks) return;
  job.hasMissedToken = true;
  const message = "It asks for github.token, which is empty: --github-token gives one";
  tell(run, { type: "note", at: Date.now(), path, level: "warning", code: "action-token", message });
}

/** The text that `GITHUB_ACTION` is made of: the author's id, or a name for the action without one. */
export function wantedId({ name, step }: Pick<StepInvocation, "name" | "step">): string {
  return name === "" ? idOf(step) : name;
}

function runningAction({ caller, opened }: ActionCall): RunningAction {
  const { reference, dir, root } = opened;
  const isComposite = opened.specDefinition.definition.type === "steps";
  const place = { dir: isComposite ? dir : undefined, root };
  if (reference.kind !== "action") return { ...place, repository: "", ref: "" };
  if (reference.source === "repository") return { ...place, repository: reference.repository, ref: reference.version };
  const { repository, ref } = caller.action;
  return reference.source === "self" ? { ...place, repository, ref } : { ...place, repository: "", ref: "" };
}

function idOf(reference: StepReference): string {
  if (reference.kind !== "action") return "__run";
  if (reference.source !== "repository") return "__self";
  return `__${[reference.repository, reference.dir]
    .join("/")
    .replace(/[^A-Za-z0-9_-]+/g, "_")
    .replace(/_+$/, "")}`;
}

/** Tells the plan of a phase of an action. */
export function tellPlan(run: Run, instance: Pick<ActionInstance, "call" | "inputs">, path: string): void {
  const { call, inputs } = instance;
  const { opened, given, env } = call;
  const { specDefinition, definitionDigest, component, subpath, reference } = opened;
  tell(run, {
    type: "step-planned",
    at: Date.now(),
    path,
    specDefinition,
    definitionDigest,
    component,
    subpath,
    reference: withoutCredentials(reference),
    inputs,
    invocation: { inputs: given, env },
    definitionEnv: {},
    places: placesOf(run, { dir: opened.dir, files: new StepFiles(run.jobTmp) }),
  });
}
