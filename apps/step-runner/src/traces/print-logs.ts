import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { UsageError } from "@steps/console";
import { complain, harmless, output, print, terminalOf } from "@steps/console/terminal";
import { keptNamed } from "@steps/engine/runs";
import { printable } from "@steps/model/diagnostic";
import { listSteps } from "@steps/trace";
import { fullName } from "@steps/trace/pipeline";
import type { FoundTrace, JobTrace, PipelineTrace } from "./find-trace.ts";

type ListedStep = ReturnType<typeof listSteps> extends Generator<infer Step> ? Step : never;

/** A step with the folder of its run, which may be gone. */
interface LoggedStep extends ListedStep {
  readonly runDir: string | undefined;
}

const MAX_NAMES = 20;

/**
 * Prints what steps have written: of the steps that a name or a path such as `0/2` means with those below them, or of all. Several
 * stand behind their names. @throws {UsageError} if no step is meant
 */
export async function printLogs(found: FoundTrace, wanted: string | undefined, stateDir: string): Promise<void> {
  const all = found.kind === "job" ? stepsOf(found.trace, [], stateDir) : stepsOfJobs(found.trace, stateDir);
  const chosen = wanted === undefined ? all : all.filter((step) => isMeant(step, wanted));
  if (chosen.length === 0 && wanted !== undefined) {
    const names = all.map(({ names: own }) => own.join("/"));
    const more = names.length > MAX_NAMES ? ", …" : "";
    throw new UsageError(`There is no step "${wanted}"`, `There are ${names.slice(0, MAX_NAMES).join(", ")}${more}.`);
  }
  const logged = chosen.filter(({ record }) => record.obs?.log !== undefined);
  for (const step of logged) await printLog(step, { hasHeading: logged.length > 1 });
}

function stepsOf(trace: JobTrace, around: readonly string[], stateDir: string): LoggedStep[] {
  const runDir = trace.traceId ? keptNamed(stateDir, trace.traceId)[0]?.path : undefined;
  return [...listSteps(trace)].map(({ names, record }) => ({ names: [...around, ...names], record, runDir }));
}

function stepsOfJobs({ jobs = [] }: PipelineTrace, stateDir: string): LoggedStep[] {
  return jobs.flatMap(({ name = "", caller = "", instances = [] }) =>
    instances.flatMap(({ name: instance = name, attempts = [] }) =>
      attempts.flatMap(({ trace }) => (trace ? stepsOf(trace, [fullName(caller, instance)], stateDir) : [])),
    ),
  );
}

/** Whether a step is the one that is named, or below it. */
function isMeant({ names, record: { path = "" } }: LoggedStep, wanted: string): boolean {
  if (path === wanted || path.startsWith(`${wanted}/`)) return true;
  return names.some((name, index) => {
    const own = names.slice(0, index + 1);
    return name === wanted || own.join("/") === wanted || own.join(" / ") === wanted;
  });
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
