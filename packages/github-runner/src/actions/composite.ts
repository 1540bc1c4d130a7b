import { ExecuteError, type Run, type StepEnd } from "@steps/executor/kit";
import { evaluateText } from "@steps/github-language";
import { createObject, mapObject, type Outcome, type RuntimeValue, type Status, type Value } from "@steps/model";
import type { ActionInstance } from "./action-instance.ts";
import { type ActionScope, evaluationOf } from "./action-scope.ts";
import { type RunAction, runActionSteps } from "./action-steps.ts";
import { inputText } from "../process/action-process.ts";

/** Composite actions that call composite actions, below the one of the job. */
const MAX_NESTED = 9;

/** Runs the steps of a composite action, then makes its outputs, also if one of them has failed. */
export async function runComposite(
  run: Run,
  instance: ActionInstance,
  { path, runAction }: { readonly path: string; readonly runAction: RunAction },
): Promise<StepEnd> {
  const { definition, scope: own, posts } = instance;
  if (definition.type !== "steps") throw new ExecuteError("REFERENCE_INVALID", "the action has no steps");
  if (own.depth > MAX_NESTED + 1) {
    throw new ExecuteError("RECURSION_TOO_DEEP", `composite actions are nested more than ${MAX_NESTED} levels deep`);
  }
  let status: Status = "success";
  const scope: ActionScope = { ...own, path, steps: createObject<Value>(), status: () => status };
  const { outcome, exports } = await runActionSteps(run, {
    scope,
    invocations: definition.steps,
    dir: instance.call.opened.dir,
    root: instance.call.opened.root,
    posts,
    runAction,
    onStatus: (next) => {
      if (status !== "cancelled") status = next;
    },
  });
  const outputs = outputsOf(run, scope, definition.outputs);
  return { outcome: outcome ?? ({ status: "success" } satisfies Outcome), outputs, exports };
}

/** The outputs of a list of steps: texts. */
export function outputsOf(
  run: Run,
  scope: ActionScope,
  outputs: Readonly<Record<string, Value>>,
): Record<string, RuntimeValue> {
  return mapObject(outputs, (template): RuntimeValue => evaluateText(inputText(template), evaluationOf(run, scope)));
}
