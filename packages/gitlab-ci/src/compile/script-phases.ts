import { quote } from "@steps/model/diagnostic";
import type { Value } from "@steps/model";
import { Report, type YamlNode } from "@steps/source";
import type { CiReport } from "../ci-rules.ts";
import { readCommands } from "../read-commands.ts";
import type { CompileContext } from "./compile-context.ts";
import { readGoDuration } from "./go-duration.ts";
import { inputsNamedIn, scriptTemplate, variableTemplate } from "./job-text.ts";
import { libraryStep, type Phase, placesOfVariables } from "./phase.ts";

/** `before_script` and `script` in one shell. `undefined` when they cannot be read. */
export function scriptPhase(context: CompileContext): Phase | undefined {
  const { job, report } = context;
  const script = job.own.get("script")?.value;
  // A job without a script starts another pipeline, which was reported.
  if (script === undefined) return undefined;
  const main = commandsOf(context, "script");
  if (main.length === 0 && !report.hasErrors) {
    report.error(script, { code: "missing-script", message: `"script" of the job ${quote(job.name)} is empty` });
  }
  const commands = [...commandsOf(context, "before_script"), ...main];
  const timeoutMs = readGoDuration(context.variables.values["RUNNER_SCRIPT_TIMEOUT"]);
  return {
    ...shellPhase(context, "step_script", commands),
    node: script,
    control: timeoutMs === undefined ? undefined : { timeoutMs },
  };
}

/** Five minutes, GitLab's default. */
const AFTER_SCRIPT_MS = 300_000;

/** The phases that `after_script` runs behind, by their names. */
export interface Before {
  /** The phase that does the job's own work. */
  readonly main: string;
  /** Whether the job may end before its own work begins. */
  readonly mayNotBegin: boolean;
  /** Whether a release is made after the job's own work. */
  readonly hasRelease: boolean;
}

/**
 * `after_script`, in a shell of its own: also after a failure and a cancel, but not when the time of the job is over or its own
 * work has not begun ([after_script](https://docs.gitlab.com/ci/yaml/#after_script)). `undefined` for a job without.
 */
export function afterScriptPhase(context: CompileContext, before: Before): Phase | undefined {
  const { job, variables } = context;
  const entry = job.keywords.get("after_script");
  const commands = commandsOf(context, "after_script");
  if (entry === undefined || commands.length === 0) return undefined;
  const isIgnored = isTrue(variables.values["AFTER_SCRIPT_IGNORE_ERRORS"] ?? "true");
  const phase = shellPhase(context, "after_script", commands);
  const hasBegun = before.mayNotBegin ? ` && has(steps, "${before.main}")` : "";
  const failureWarning = "after_script failed, but job will continue unaffected";
  return {
    ...phase,
    inputs: { ...phase.inputs, ...(isIgnored ? { failure_warning: failureWarning } : {}) },
    env: { ...phase.env, CI_JOB_STATUS: statusTemplate(before) },
    node: entry.value,
    control: {
      condition: `\${{ always() && !timed_out()${hasBegun} }}`,
      ...(isIgnored ? { continueOnError: true } : {}),
      timeoutMs: readGoDuration(variables.values["RUNNER_AFTER_SCRIPT_TIMEOUT"]) ?? AFTER_SCRIPT_MS,
    },
  };
}

// `CI_JOB_STATUS` as the runner tells it: what became of the job's own work.
function statusTemplate({ main, hasRelease }: Before): string {
  const release = hasRelease ? ` && get(steps, "release", {status: "success"}).status == "success"` : "";
  const status = `steps.${main}.status`;
  return `\${{ ${status} == "cancelled" && "canceled" || ${status} == "success"${release} && "success" || "failed" }}`;
}

/** A script around the checkout. */
export type SourcesHook = "pre_get_sources_script" | "post_get_sources_script";

/** A hook of `hooks`: before the project is there, or after. `undefined` for a job without. */
export function sourcesHookPhase(
  context: CompileContext,
  hook: SourcesHook = "pre_get_sources_script",
): Phase | undefined {
  const { job, variables } = context;
  const hooks = job.keywords.get("hooks")?.value;
  const node = hooks?.kind === "mapping" ? hooks.entries.get(hook)?.value : undefined;
  if (node === undefined || ["none", "empty"].includes(variables.values["GIT_STRATEGY"] ?? "")) return undefined;
  const commands = readCommands(hook, node, reported());
  if (commands.length === 0) return undefined;
  return { ...shellPhase(context, hook, commands), node };
}

// As a word: the folder of a project may begin so, too.
const STEP_RUNNER = /(?:^|[\s;&|()"'`=])\/step-runner(?:$|[\s;&|()"'`])/;

type ShellPhase = Omit<Phase, "node" | "control">;

function shellPhase(context: CompileContext, name: string, commands: readonly string[]): ShellPhase {
  const { job, variables, shell, scope } = context;
  const { values, nodes } = variables;
  const inputs: Record<string, Value> = { script: commands.map((command) => scriptTemplate(command, scope)) };
  if (shell !== undefined) inputs["shell"] = shell;
  if (isTrue(values["CI_DEBUG_TRACE"])) inputs["debug_trace"] = true;
  if (isTrue(values["FF_ENABLE_BASH_EXIT_CODE_CHECK"])) inputs["check_for_errors"] = true;
  if (isTrue(values["FF_SCRIPT_SECTIONS"])) inputs["trace_sections"] = true;
  if ([...commands, ...Object.values(values)].some((part) => STEP_RUNNER.test(part))) {
    inputs["step_runner"] = true;
  }
  return {
    name,
    step: libraryStep("script"),
    inputs,
    env: Object.fromEntries(Object.keys(values).map((variable) => [variable, variableTemplate(variable)])),
    places: placesOfVariables(nodes, job.own.get("variables")?.key),
  };
}

function commandsOf({ job, scope, report }: CompileContext, keyword: string): readonly string[] {
  const node = job.keywords.get(keyword)?.value;
  const commands = readCommands(keyword, node, reported());
  if (node !== undefined) commands.forEach((command) => checkInputNames(command, node, { scope, report }));
  return commands;
}

function checkInputNames(
  text: string,
  node: YamlNode,
  { scope, report }: Pick<CompileContext, "scope" | "report">,
): void {
  for (const name of scope.inputs.size === 0 ? [] : inputsNamedIn(text)) {
    if (scope.inputs.has(name)) continue;
    report.error(node, {
      code: "unknown-pipeline-input",
      message: `The job has no input ${quote(name)}`,
      hint: `Its inputs are ${[...scope.inputs].map(quote).join(", ")}.`,
    });
  }
}

// The loader reported what is wrong with commands.
function reported(): CiReport {
  return new Report();
}

/** Whether the runner takes the value of a variable for true. */
export function isTrue(value: string | undefined): boolean {
  return value !== undefined && ["1", "t", "T", "TRUE", "true", "True"].includes(value);
}
