import type { RunHooks } from "@steps/engine";
import { formatValue } from "@steps/model/value";
import { printable } from "@steps/model/diagnostic";
import { plainValue } from "@steps/trace";
import type { ReportedRun } from "./run-job.ts";

type JournalEvent = Parameters<NonNullable<RunHooks["onEvent"]>>[0];
type StepFinished = Extract<JournalEvent, { readonly type: "step-finished" }>;
type Values = Readonly<Record<string, ReturnType<typeof plainValue>>>;

/** A step of the outermost list that has ended. */
interface EndedStep {
  readonly path: string;
  readonly name: string;
  readonly end: StepFinished;
}

const MAX_SHOWN = 200;

/** A fold over the events of a job: the outputs that it has at its end, masked. */
export class JobOutputs {
  readonly #names = new Map<string, string>();
  readonly #steps: EndedStep[] = [];
  #own: Values = {};

  readonly apply = (event: JournalEvent): void => {
    if (event.type === "run-started") this.#steps.length = 0;
    if (event.type === "step-opened" && isOutermost(event.path)) this.#names.set(event.path, event.name);
    if (event.type === "run-finished") this.#own = valuesOf(event.outputs);
    if (event.type !== "step-finished" || !isOutermost(event.path)) return;
    const name = this.#names.get(event.path) || `#${Number(event.path) + 1}`;
    this.#steps.push({ path: event.path, name, end: event });
  };

  /** A line for each output, in columns: its step where there are several, its name, and its value. Empty without any. */
  async table(): Promise<string> {
    const { own, steps } = this.#shown();
    const rows = [
      ...Object.entries(own).map(([name, value]) => ["", name, shorten(value)]),
      ...steps.flatMap(({ name: step, end }) =>
        Object.entries(valuesOf(end.outputs)).map(([name, value]) => [step, name, shorten(value)]),
      ),
    ];
    if (rows.length === 0) return "";
    // Most jobs have none.
    const { alignColumns } = await import("@steps/pipeline-view");
    return alignColumns(rows.map((cells) => ["", ...cells].map(printable)))
      .split("\n")
      .map((line) => (line === "" ? "" : `  ${line.trimStart()}`))
      .join("\n");
  }

  /** The report for programs: `{result, exitCode, reason, durationMs, traceId, outputs, steps}`. */
  report({ run, durationMs }: ReportedRun): unknown {
    const { own } = this.#shown();
    const { outcome, exitCode, directory } = run;
    return {
      result: outcome.status,
      exitCode,
      reason: outcome.error?.message,
      durationMs: Math.round(durationMs),
      traceId: directory.traceId,
      outputs: own,
      steps: this.#steps.map(({ path, name, end }) => ({
        name,
        path,
        result: end.status,
        exitCode: end.exitCode,
        reason: end.error?.message ?? end.skipReason,
        outputs: valuesOf(end.outputs),
      })),
    };
  }

  // The outputs of the only step are those of the job: a reference becomes a list of one.
  #shown(): { readonly own: Values; readonly steps: readonly EndedStep[] } {
    const [only] = this.#steps;
    if (Object.keys(this.#own).length > 0) return { own: this.#own, steps: [] };
    if (only !== undefined && this.#steps.length === 1) return { own: valuesOf(only.end.outputs), steps: [] };
    return { own: {}, steps: this.#steps };
  }
}

function isOutermost(path: string): boolean {
  return path !== "" && !path.includes("/");
}

function valuesOf(vals: StepFinished["outputs"]): Values {
  return Object.fromEntries(Object.entries(vals).map(([name, val]) => [name, plainValue(val)]));
}

function shorten(value: Values[string]): string {
  const text = formatValue(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
