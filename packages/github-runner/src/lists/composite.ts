import { ExecuteError, itemsOf, type Run, type StepEnd, StepList } from "@steps/executor/kit";
import { evaluateText } from "@steps/github-language";
import { createObject, mapObject, type RuntimeValue, type Status, type Value } from "@steps/model";
import type { ActionInstance } from "../job/action-instance.ts";
import { type ActionScope, evaluationOf } from "../job/action-scope.ts";
import { actionLanguage, type RunAction } from "./action-language.ts";
import { inputText } from "../job/input-text.ts";

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
  const { dir, root } = instance.call.opened;
  const language = actionLanguage(run, {
    scope,
    dir,
    root,
    posts,
    runAction,
    onStatus: (next) => {
      if (status !== "cancelled") status = next;
    },
  });
  const list = new StepList(run, language);
  await list.runInOrder(itemsOf(path, definition.steps));
  const outputs = outputsOf(run, scope, definition.outputs);
  return { outcome: list.outcome ?? { status: "success" }, outputs, exports: list.exports };
}

/** The outputs of a list of steps: texts. */
export function outputsOf(
  run: Run,
  scope: ActionScope,
  outputs: Readonly<Record<string, Value>>,
): Record<string, RuntimeValue> {
  return mapObject(outputs, (template): RuntimeValue => evaluateText(inputText(template), evaluationOf(run, scope)));
}
