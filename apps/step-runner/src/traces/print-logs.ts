import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { UsageError } from "@steps/console";
import { complain, harmless, output, print, terminalOf } from "@steps/console/terminal";
import { keptNamed } from "@steps/engine/runs";
import { nearest, printable } from "@steps/model/diagnostic";
import { listSteps } from "@steps/trace";
import { fullName } from "@steps/trace/pipeline";
import { type FoundTrace, type JobTrace, nearestRuns, type PipelineTrace } from "./find-trace.ts";

type ListedStep = ReturnType<typeof listSteps> extends Generator<infer Step> ? Step : never;

/** A step with the folder of its run, which may be gone. */
interface LoggedStep extends ListedStep {
  readonly runDir: string | undefined;
}

/** The step whose output is wanted. */
interface WantedLogs {
  /** Its name or path; all steps without one. */
  readonly wanted: string | undefined;
  /** Whether no run was named, so that the text may have been meant as one. */
  readonly isOfNewest: boolean;
  readonly stateDir: string;
}

const MAX_NAMES = 20;

/**
 * Prints what steps have written: of the steps that a name or a path such as `0/2` means with those below them, or of all. Several
 * stand behind their names. @throws {UsageError} if no step is meant
 */
export async function printLogs(found: FoundTrace, { wanted, isOfNewest, stateDir }: WantedLogs): Promise<void> {
  const all = found.kind === "job" ? stepsOf(found.trace, [], stateDir) : stepsOfJobs(found.trace, stateDir);
  const chosen = wanted === undefined ? all : all.filter((step) => isMeant(step, wanted));
  if (chosen.length === 0 && wanted !== undefined) {
    throw noStep(wanted, all, isOfNewest ? nearestRuns(wanted, stateDir) : undefined);
  }
  const logged = chosen.filter(({ record }) => record.obs?.log !== undefined);
  for (const step of logged) await printLog(step, { hasHeading: logged.length > 1 });
}

/** @param runs a hint at runs that are nearly called so, where the text may be meant as a run */
function noStep(wanted: string, all: readonly LoggedStep[], runs: string | undefined): UsageError {
  if (runs !== undefined)
    return new UsageError(`There is no run "${wanted}", and no such step of the newest run`, runs);
  const names = all.map(({ names: own }) => own.join("/"));
  const near = nearest(wanted, [...names, ...all.flatMap(({ names: own }) => own.at(-1) ?? [])]);
  const more = names.length > MAX_NAMES ? ", …" : "";
  const list =
    names.length === 0 ? "It has no steps." : `Its steps are ${names.slice(0, MAX_NAMES).join(", ")}${more}.`;
  return new UsageError(`There is no step "${wanted}"`, near === undefined ? list : `Did you mean "${near}"? ${list}`);
}

function stepsOf(trace: JobTrace, around: readonly string[], stateDir: string): LoggedStep[] {
  const runDir = trace.traceId ? keptNamed(stateDir, trace.traceId)[0]?.path : undefined;
  return [...listSteps(trace)].map(({ names, numbers, record }) => ({
    names: [...around, ...names],
    numbers: [...around, ...numbers],
    record,
    runDir,
  }));
}

function stepsOfJobs({ jobs = [] }: PipelineTrace, stateDir: string): LoggedStep[] {
  return jobs.flatMap(({ name = "", caller = "", instances = [] }) =>
    instances.flatMap(({ name: instance = name, attempts = [] }) =>
      attempts.flatMap(({ trace }) => (trace ? stepsOf(trace, [fullName(caller, instance)], stateDir) : [])),
    ),
  );
}

/** Whether a step is the one that is named, or below it. */
function isMeant({ names, numbers, record: { path = "" } }: LoggedStep, wanted: string): boolean {
  if (path === wanted || path.startsWith(`${wanted}/`)) return true;
  return [names, numbers].some((labels) =>
    labels.some((label, index) => {
      const own = labels.slice(0, index + 1);
      return label === wanted || own.join("/") === wanted || own.join(" / ") === wanted;
    }),
  );
}

async function printLog(step: LoggedStep, { hasHeading }: { readonly hasHeading: boolean }): Promise<void> {
  const { names, record } = step;
  const { isTerminal, hasColor, bold } = terminalOf(1);
  if (hasHeading) await print(`${bold(`--- ${printable(names.join(" / "))}`)}\n`);
  const bytes = readLog(step);
  if (bytes === undefined) return complain(`The output of "${printable(names.join(" / "))}" is not kept any more`);
  if (isTerminal) await print(harmless(bytes.toString("utf8"), { hasColor }));
  else await output.write(bytes);
  if (hasHeading && bytes.length > 0 && bytes.at(-1) !== 10) await print("\n");
  const dropped = Number(record.obs?.log?.droppedBytes ?? 0);
  if (dropped > 0) complain(`${dropped} more bytes of "${printable(names.join(" / "))}" were not kept`);
}

function readLog({ record, runDir }: LoggedStep): Buffer | undefined {
  const { file, inline } = record.obs?.log ?? {};
  if (inline !== undefined) return Buffer.from(inline, "base64");
  if (runDir === undefined || file === undefined) return undefined;
  const path = join(runDir, file);
  // The name comes from a file that anybody may have written.
  if (!resolve(path).startsWith(join(runDir, "logs/")) || !existsSync(path)) return undefined;
  return readFileSync(path);
}
