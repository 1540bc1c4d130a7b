import { createObject, type RuntimeString, type RuntimeValue } from "@steps/model";
import type { StepInvocation } from "@steps/model/definition";
import { escapePointer } from "@steps/model/value";
import { ExecuteError } from "../outcome/execute-error.ts";
import { createExpander } from "../values/expander.ts";
import { type Level, scopeOf } from "../run/level.ts";
import type { Run } from "../run/run.ts";

/**
 * Expands the inputs and variables of an item before any step has run, for its action's `pre`. A text that is made of results
 * which are not there yet is empty.
 */
export function expandEarly(
  run: Run,
  level: Level,
  { invocation, path }: { readonly invocation: StepInvocation; readonly path: string },
): { readonly given: Record<string, RuntimeValue>; readonly env: Record<string, RuntimeString> } {
  // An expression that cannot be evaluated yet is no mistake, and nothing to tell of.
  const quiet: Run = { ...run, hooks: { ...run.hooks, observe() {} } };
  const expander = createExpander(quiet, () => scopeOf(run, level), { path, source: level.source });
  const attempt = <T>(expand: () => T, otherwise: T): T => {
    try {
      return expand();
    } catch (error) {
      if (!(error instanceof ExecuteError)) throw error;
      return otherwise;
    }
  };
  const told = new Set(run.state.unknownVariables);
  const given = createObject<RuntimeValue>();
  for (const [name, value] of Object.entries(invocation.inputs)) {
    const place = { what: `input "${name}"`, pointer: `/inputs/${escapePointer(name)}` };
    given[name] = attempt<RuntimeValue>(() => expander.value(value, place), "");
  }
  const env = createObject<RuntimeString>();
  for (const [name, text] of Object.entries(invocation.env)) {
    const place = { what: `env "${name}"`, pointer: `/env/${escapePointer(name)}` };
    env[name] = attempt<RuntimeString>(() => expander.text(text, place), "");
  }
  // A message that nobody has heard is said again.
  run.state.unknownVariables = told;
  return { given, env };
}
