import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Job, type Outcome, type RuntimeValue, StepsError } from "@steps/model";
import {
  emptySpec,
  type ExecDefinition,
  type Spec,
  type SpecDefinition,
  type StepInvocation,
  type StepsDefinition,
} from "@steps/model/definition";
import type { StepEvent } from "@steps/model/event";
import type { StepReference } from "@steps/model/reference";
import { digestOf } from "@steps/platform";
import { execute, type ExecuteHooks, type ExecuteRequest, type LoadedStep, type StepLog } from "../src/index.ts";

/** The results of a run. */
export interface Ran {
  readonly outcome: Outcome;
  readonly outputs: Readonly<Record<string, RuntimeValue>>;
  readonly events: readonly StepEvent[];
  /** Output of all processes, in order of arrival. */
  readonly output: string;
  readonly leftInTmp: readonly string[];
}

type JobField = "inputs" | "vars" | "env" | "workDir" | "positionOf" | "mode";

export interface Setup extends Partial<Omit<ExecuteRequest, "job">>, Partial<Pick<Job, JobField>> {
  readonly steps?: Readonly<Record<string, SpecDefinition>>;
  readonly signal?: AbortSignal;
  readonly hooks?: Partial<ExecuteHooks>;
  readonly onEvent?: (event: StepEvent) => void;
}

export const baseEnv: Readonly<Record<string, string>> = { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C" };

let count = 0;

/** A text that no other run of the tests has. */
export function freshCookie(): string {
  count += 1;
  return `test-${process.pid}-${Date.now()}-${count}`;
}

export async function run(specDefinition: SpecDefinition, setup: Setup = {}): Promise<Ran> {
  const { steps = {}, signal = new AbortController().signal, hooks, onEvent, ...given } = setup;
  const jobTmp = mkdtempSync(join(tmpdir(), "executor-test-"));
  const baseDir = mkdtempSync(join(tmpdir(), "executor-work-"));
  const { inputs = {}, vars = {}, env = baseEnv, workDir = baseDir, positionOf, mode, ...request } = given;
  const job: Job = {
    entry: "run",
    source: "test",
    specDefinition,
    inputs,
    vars,
    env,
    workDir,
    baseDir,
    positionOf,
    mode,
  };
  const events: StepEvent[] = [];
  const chunks: Uint8Array[] = [];
  try {
    const executed = await execute(
      {
        job,
        jobTmp,
        graceMs: 2000,
        cookie: freshCookie(),
        ...request,
      },
      {
        loadStep: async (reference) => load(reference, steps),
        observe: (event) => {
          events.push(event);
          onEvent?.(event);
        },
        openLog: () => collect(chunks),
        ...hooks,
      },
      signal,
    );
    const output = Buffer.concat(chunks).toString();
    return { ...executed, events, output, leftInTmp: readdirSync(jobTmp) };
  } finally {
    rmSync(jobTmp, { recursive: true, force: true });
    rmSync(baseDir, { recursive: true, force: true });
  }
}

function collect(chunks: Uint8Array[]): StepLog {
  return {
    write: (_stream, chunk) => {
      chunks.push(chunk);
    },
    close: () => undefined,
  };
}

/** Steps by the path that a local reference names: the place where a cache and a compiler are in a runner. */
export function load(reference: StepReference, steps: Readonly<Record<string, SpecDefinition>>): LoadedStep {
  const name = reference.kind === "local" ? reference.path : reference.kind === "dist" ? reference.path : "";
  const specDefinition = steps[name];
  if (specDefinition === undefined) throw new StepsError("NOT_FOUND", `Cannot find step: "${name}"`);
  return {
    specDefinition,
    definitionDigest: digestOf(specDefinition),
    dir: "/steps",
    root: undefined,
    component: undefined,
    fetch: undefined,
    subpath: "step.yml",
  };
}

export function exec(command: readonly string[], rest: Partial<ExecDefinition> & { spec?: Spec } = {}): SpecDefinition {
  const { spec = emptySpec, ...definition } = rest;
  return { spec, definition: { type: "exec", env: {}, command, ...definition } };
}

export function sh(script: string, rest: Partial<ExecDefinition> & { spec?: Spec } = {}): SpecDefinition {
  return exec(["sh", "-c", script], rest);
}

export function sequence(
  steps: readonly StepInvocation[],
  rest: Partial<StepsDefinition> & { spec?: Spec } = {},
): SpecDefinition {
  const { spec = emptySpec, ...definition } = rest;
  return { spec, definition: { type: "steps", env: {}, outputs: {}, steps, ...definition } };
}

export function call(name: string, path: string, rest: Partial<StepInvocation> = {}): StepInvocation {
  return { name, step: { kind: "local", path }, inputs: {}, env: {}, ...rest };
}

/** An anonymous list item. */
export function item(specDefinition: SpecDefinition, rest: Partial<StepInvocation> = {}): StepInvocation {
  return { name: "", step: { kind: "inline", specDefinition, seesCallerInputs: true }, inputs: {}, env: {}, ...rest };
}

/** `path:status` of each step that finished, in order. */
export function statuses(events: readonly StepEvent[]): string[] {
  return events.flatMap((event) => (event.type === "step-finished" ? [`${event.path}:${event.status}`] : []));
}

export function eventOf<Type extends StepEvent["type"]>(
  ran: { readonly events: readonly StepEvent[] },
  type: Type,
  path: string,
): StepEvent & { type: Type } {
  const event = ran.events.find((event) => event.type === type && "path" in event && event.path === path);
  if (event === undefined) throw new Error(`no event ${type} of step "${path}"`);
  return event as StepEvent & { type: Type };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return true;
}
