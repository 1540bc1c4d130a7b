import { spawnSync } from "node:child_process";
import { mapObject } from "@steps/model";
import type { StepControl } from "@steps/model/definition";
import type { Diagnostic } from "@steps/model/diagnostic";
import { loadPipelineNow, type LoadPipelineOptions, sortDiagnostics } from "../../src/load/load-pipeline.ts";
import {
  type CompiledJob,
  compileJob,
  type CompileJobOptions,
  type CompileJobResult,
} from "../../src/compile/compile-job.ts";

/** The options of a job that is compiled from a text. */
export type Options = Partial<CompileJobOptions> & { readonly loading?: LoadPipelineOptions };

function source(text: string): { name: string; text: string } {
  return { name: ".gitlab-ci.yml", text };
}

/** Loads a text and compiles one job of it, `test` by default. */
export function translate(text: string, { loading, ...options }: Options = {}): CompileJobResult {
  const { pipeline, sources, diagnostics } = loadPipelineNow(source(text), loading);
  if (pipeline === undefined) return { job: undefined, diagnostics };
  const translated = compileJob(pipeline, { jobName: "test", ...options });
  return { ...translated, diagnostics: sortDiagnostics([...diagnostics, ...translated.diagnostics], sources) };
}

/** Diagnostics as `severity code line`. */
export function brief(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ severity, code, position }) => `${severity} ${code} ${position?.line ?? "-"}`);
}

/** The job of a text without errors. */
export function translated(text: string, options: Options = {}): CompiledJob {
  const { job, diagnostics } = translate(text, options);
  if (job === undefined) throw new Error(`Not translated: ${diagnostics.map((one) => one.message).join("; ")}`);
  return job;
}

/** A step of a compiled job that runs commands. */
export interface ScriptStep {
  readonly name: string;
  readonly commands: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly control: StepControl | undefined;
}

/** The steps of a job in their order. */
export function stepsOf(job: CompiledJob): readonly ScriptStep[] {
  const { definition } = job.specDefinition;
  if (definition.type !== "steps") throw new Error("Not a list of steps");
  return definition.steps.map(({ name, inputs, env, control }) => {
    return { name, commands: inputs["script"] as readonly string[], env, control };
  });
}

/** The step of a job that has one. */
export function onlyStep(job: CompiledJob): ScriptStep {
  const [only, ...others] = stepsOf(job);
  if (only === undefined || others.length > 0) throw new Error("Not one step");
  return only;
}

/** Gives the environment that a runner passes to the shell: each variable of a step refers to one of the job. */
export function expandedEnv(job: CompiledJob, { env }: ScriptStep): Readonly<Record<string, string>> {
  const { CI_JOB_STATUS: _, ...others } = env;
  return mapObject(others, (template) => {
    const name = /^\$\{\{ vars\[(".*")\] \}\}$/.exec(template)?.[1];
    if (name === undefined) throw new Error(`Not a variable: ${template}`);
    return job.variables[JSON.parse(name) as string] as string;
  });
}

/** Runs the commands of the job's steps, each in a shell of its own, and gives their output. */
export function run(text: string, options: Options = {}): string {
  const job = translated(text, options);
  return stepsOf(job)
    .map((step) => {
      const script = step.commands.join("\n").replaceAll(String.raw`\${{`, () => "${{");
      return spawnSync("bash", ["-c", script], {
        encoding: "utf8",
        env: { PATH: process.env["PATH"], ...expandedEnv(job, step) },
      }).stdout;
    })
    .join("");
}
