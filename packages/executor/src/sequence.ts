import {
  createObject,
  type Outcome,
  printable,
  type RuntimeString,
  type RuntimeValue,
  type Spec,
  type StepInvocation,
  type StepsDefinition,
} from "@steps/model";
import { ExecuteError } from "./execute-error.ts";
import { createExpander, escapePointer } from "./expander.ts";
import { type Level, scopeOf } from "./level.ts";
import { isSuccess, outcomeOfAbort, outcomeOfParent } from "./outcome.ts";
import { checkOutputs, type Outputs } from "./outputs.ts";
import type { Run } from "./run.ts";
import type { StepEnd } from "./step-end.ts";

/** Runs one item of a level's list, whatever it is: the way back up of the recursion. */
export type RunStep = (run: Run, caller: Level, index: number, invocation: StepInvocation) => Promise<StepEnd>;

/** A list of steps to run one after the other. */
export interface SequenceCall {
  readonly spec: Spec;
  readonly definition: StepsDefinition;
  readonly hasOpenOutputs: boolean;
  readonly runStep: RunStep;
}

/** Runs the children in order up to the first that does not succeed, then makes the outputs of theirs. */
export async function runSequence(run: Run, level: Level, call: SequenceCall): Promise<StepEnd> {
  const { definition } = call;
  const ends = new Map<string, StepEnd>();
  const exports = createObject<RuntimeString>();
  for (const [index, invocation] of definition.steps.entries()) {
    if (run.signal.aborted) return { outcome: outcomeOfAbort(run.signal.reason), outputs: {}, exports };
    const end = await call.runStep(run, level, index, invocation);
    Object.assign(exports, end.exports);
    if (!isSuccess(end.outcome.status)) {
      return { outcome: outcomeOfParent(end.outcome, label(invocation, index)), outputs: {}, exports };
    }
    if (invocation.name === "") continue;
    ends.set(invocation.name, end);
    level.steps[invocation.name] = contextOf(end);
  }
  const outputs = outputsOf(run, level, { ...call, ends });
  const isDelegate = call.spec.outputs === "delegate" && definition.delegate !== undefined;
  return { outcome: success, outputs, exports, ...(isDelegate ? { delegateOf: definition.delegate as string } : {}) };
}

const success: Outcome = { status: "success" };

function label(invocation: StepInvocation, index: number): string {
  return invocation.name === "" ? `#${index + 1}` : printable(JSON.stringify(invocation.name));
}

function contextOf(end: StepEnd): Record<string, RuntimeValue> {
  const context = createObject<RuntimeValue>();
  context["outputs"] = end.outputs as RuntimeValue;
  context["status"] = end.outcome.status;
  context["exit_code"] = end.outcome.exitCode ?? 0;
  context["exports"] = end.exports as RuntimeValue;
  return context;
}

function outputsOf(run: Run, level: Level, call: SequenceCall & { ends: ReadonlyMap<string, StepEnd> }): Outputs {
  const { spec, definition, ends } = call;
  if (spec.outputs === "delegate") {
    const child = ends.get(definition.delegate ?? "");
    if (child) return child.outputs;
    const name =
      definition.delegate === undefined ? "the definition names no step" : `no step "${definition.delegate}"`;
    throw new ExecuteError("DELEGATE_INVALID", `outputs: delegate: ${name}`);
  }
  const expander = createExpander(run, () => scopeOf(run, level), { path: level.path, source: level.source });
  const values = createObject<RuntimeValue>();
  for (const name of Object.keys(definition.outputs)) {
    const place = { what: `outputs: "${name}"`, pointer: `/definition/outputs/${escapePointer(name)}` };
    values[name] = expander.value(definition.outputs[name] ?? null, place);
  }
  return checkOutputs(values, spec, { isOpen: call.hasOpenOutputs });
}
