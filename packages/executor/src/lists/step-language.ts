import { createObject, exitCodeOf, type RuntimeValue } from "@steps/model";
import { printable } from "@steps/model/diagnostic";
import { endSkipped, type StepEnd } from "../outcome/step-end.ts";
import { type Level, scopeOf } from "../run/level.ts";
import type { Run } from "../run/run.ts";
import { createExpander, type Expander } from "../values/expander.ts";
import { asksForStatus, conditionFunctions, skipReason } from "./condition.ts";
import type { ListItem, ListLanguage, OpenItem, Progress, Verdict } from "./list-language.ts";

/** An item of a list of our own. */
export interface StepItem extends ListItem {
  /** The JSON pointer of the invocation within the SpecDefinition of its level. */
  readonly pointer: string;
}

/** Runs an item of a level's list whose condition holds, whatever it is: the way back up of the recursion. */
export type RunStep = (run: Run, caller: Level, item: StepItem) => Promise<StepEnd>;

/** The step of a list whose outputs are those of the list. The end of any other is not kept: it holds what the step printed. */
export interface Delegate {
  readonly name: string;
  /** Absent until it has ended. */
  end?: StepEnd;
}

/** A list in the language of step files. */
export function stepLanguage(
  run: Run,
  level: Level,
  { runStep, delegate }: { readonly runStep: RunStep; readonly delegate: Delegate | undefined },
): ListLanguage<StepItem> {
  return {
    isJob: level.path === "",
    tellsConclusion: false,
    titleOf: ({ invocation }) => invocation.name,
    labelOf: ({ invocation: { name }, index }) => (name === "" ? `#${index + 1}` : printable(JSON.stringify(name))),
    isLeftOut: ({ invocation }, { hasFailed }) => hasFailed && invocation.control?.condition === undefined,
    judge: (item, progress) => judge(run, level, { item, progress }),
    runItem: (part, item: StepItem & OpenItem) => runStep(part, level, item),
    allowsFailure: ({ invocation }) => invocation.control?.continueOnError === true,
    keepEnd({ invocation: { name } }, end) {
      if (name === delegate?.name) delegate.end = end;
      level.steps[name] = contextOf(end);
    },
  };
}

function judge(
  run: Run,
  level: Level,
  { item, progress }: { readonly item: StepItem; readonly progress: Progress },
): Verdict {
  const { invocation, path, pointer } = item;
  const { control } = invocation;
  const expander = (): Expander =>
    createExpander(run, () => scopeOf(run, level), {
      path,
      source: level.source,
      functions: conditionFunctions(progress),
    });
  const reason = skipReason(control, progress, expander, pointer);
  if (reason !== undefined) return { holds: false, end: endSkipped(reason) };
  // Steps that run at the same time are aborted together.
  return { holds: true, isInAnyCase: progress.isFinally || (!progress.isParallel && asksForStatus(control)) };
}

function contextOf(end: StepEnd): Record<string, RuntimeValue> {
  const context = createObject<RuntimeValue>();
  context["outputs"] = shared(end.outputs as Record<string, RuntimeValue>);
  context["status"] = end.outcome.status;
  context["exit_code"] = exitCodeOf(end.outcome);
  context["exports"] = shared(end.exports as Record<string, RuntimeValue>);
  return context;
}

const NOTHING: Record<string, RuntimeValue> = Object.freeze(createObject<RuntimeValue>());

// In a list of thousands of steps nearly all of them give nothing.
function shared(values: Record<string, RuntimeValue>): Record<string, RuntimeValue> {
  return Object.keys(values).length === 0 ? NOTHING : values;
}
