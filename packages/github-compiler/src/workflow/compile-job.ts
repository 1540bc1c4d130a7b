import type { GithubDiagnostic } from "../action-rules.ts";
import { childOf, type YamlNode } from "@steps/source";
import type { Contexts } from "@steps/github-language";
import { checkOptionNames, type OptionNames, createObject, type Value } from "@steps/model";
import type { OutputSpec, SpecDefinition } from "@steps/model/definition";
import type { Position, Source } from "@steps/model/diagnostic";
import { UNKNOWN_INPUTS, UNKNOWN_NEEDS } from "../reading/evaluate.ts";
import { entriesOf, reportUnknownKey } from "../reading/mapping.ts";
import { createReading, placeAt, positionsOf, type Reading } from "../reading/reading.ts";
import { readTexts } from "../reading/read-texts.ts";
import { templateOf } from "../reading/templates.ts";
import { literalOf } from "../reading/texts.ts";
import { type RunDefaults, shellOf } from "../steps/compile-run.ts";
import { compileSteps } from "../steps/compile-steps.ts";
import { type ChosenJob, chooseInstance } from "./choose-instance.ts";
import { checkJobKeys, isMisspeltIn, readJobFacts, type WorkflowJob } from "./job-facts.ts";
import { readWorkflow, type WorkflowFile } from "./workflow-file.ts";
import { readWorkflowInputs } from "./workflow-inputs.ts";
import { type CompileWorkflowJobOptions, WORKFLOW_OPTION_NAMES, type WorkflowOptions } from "./workflow-options.ts";

/** The result of `compileWorkflowJob()`. */
export interface CompiledWorkflowJob {
  /** `undefined` if and only if there are errors among the diagnostics. */
  readonly specDefinition: SpecDefinition | undefined;
  /** `undefined` when there are errors. */
  readonly job: WorkflowJob | undefined;
  /** In the order of the text. */
  readonly diagnostics: readonly GithubDiagnostic[];
  /** The place of a JSON pointer into the encoded baseline, or of the nearest part around it. */
  readonly positionOf: (pointer: string) => Position | undefined;
}

const OPTION_NAMES: OptionNames<CompileWorkflowJobOptions> = {
  jobName: true,
  matrix: true,
  ...WORKFLOW_OPTION_NAMES,
};

/**
 * Compiles one job of a workflow to a list of steps with a `github` part, whose texts are in GitHub's language. Matrix, name,
 * labels, time limit and condition of the job are evaluated here. Never throws: what is wrong is a diagnostic, and so
 * is every key that has no effect.
 */
export function compileWorkflowJob(source: Source, options: CompileWorkflowJobOptions = {}): CompiledWorkflowJob {
  checkOptionNames("compileWorkflowJob()", options, OPTION_NAMES);
  const reading = createReading("workflow");
  const file = readWorkflow(reading, source);
  return finishJob(reading, file === undefined ? undefined : compileChosen(reading, file, options));
}

/** The result for a job that was compiled, or could not be. */
export function finishJob(reading: Reading, compiled: CompiledInstance | undefined): CompiledWorkflowJob {
  const isFine = compiled !== undefined && !reading.report.hasErrors;
  return {
    specDefinition: isFine ? compiled.specDefinition : undefined,
    job: isFine ? compiled.job : undefined,
    diagnostics: reading.report.finish(),
    positionOf: positionsOf(reading),
  };
}

/** The contexts that are known before a job is chosen. */
export function earlyContexts(reading: Reading, file: WorkflowFile, options: WorkflowOptions): Record<string, Value> {
  return {
    github: { ...options.github },
    inputs: options.hasUnknownInputs === true ? UNKNOWN_INPUTS : readWorkflowInputs(reading, file.root, options),
    vars: { ...options.vars },
    needs: options.needs === undefined ? UNKNOWN_NEEDS : { ...options.needs },
  };
}

function compileChosen(
  reading: Reading,
  file: WorkflowFile,
  options: CompileWorkflowJobOptions,
): CompiledInstance | undefined {
  const early = earlyContexts(reading, file, options);
  const chosen = chooseInstance(reading, file, { contexts: early, options });
  return (
    chosen && compileInstance(reading, file, { ...chosen, contexts: early, isInPipeline: options.needs !== undefined })
  );
}

/** An instance of a job, and the contexts that are known before it was chosen. */
export interface InstanceMoment extends ChosenJob {
  readonly contexts: Readonly<Record<string, Value>>;
  /** Whether the other jobs of the workflow run too. */
  readonly isInPipeline: boolean;
}

type CompiledInstance = { readonly specDefinition: SpecDefinition; readonly job: WorkflowJob };

/** Compiles one instance of a job. `undefined`: it cannot run at all, which was reported. */
export function compileInstance(
  reading: Reading,
  file: WorkflowFile,
  { contexts: early, isInPipeline, ...chosen }: InstanceMoment,
): CompiledInstance | undefined {
  if (!checkJobKeys(reading, chosen, isInPipeline)) return undefined;
  const { job, instance } = chosen;
  placeAt(reading, ["definition"], job.value);
  reading.places.set("", job.key);
  const contexts: Record<string, Value> = {
    ...early,
    strategy: { ...instance.strategy },
    matrix: instance.matrix ?? null,
  };
  const facts = readJobFacts(reading, { ...chosen, contexts, isInPipeline });
  const outputs = readTexts(reading, childOf(job.value, "outputs"), {
    what: `"outputs" of the job`,
    at: "job-outputs",
    pointer: ["definition", "outputs"],
  });
  const specDefinition = defineJob(reading, file, { chosen, contexts, outputs, facts });
  return { specDefinition, job: { ...facts, workflowName: file.name, outputs: Object.keys(outputs) } };
}

interface JobParts {
  readonly chosen: ChosenJob;
  readonly contexts: Readonly<Record<string, Value>>;
  readonly outputs: Readonly<Record<string, string>>;
  readonly facts: Pick<WorkflowJob, "container" | "services">;
}

function defineJob(reading: Reading, file: WorkflowFile, parts: JobParts): SpecDefinition {
  const { chosen, contexts, outputs, facts } = parts;
  const { value } = chosen.job;
  const { container, services } = facts;
  // `github` is made by whoever runs the job.
  const { strategy = null, matrix = null, needs = null, inputs = null, vars = null } = contexts;
  const defaults = { ...readDefaults(reading, file.root), ...readDefaults(reading, value, contexts) };
  const steps = isMisspeltIn(value, "steps")
    ? []
    : compileSteps(reading, childOf(value, "steps"), { parent: chosen.job.key, defaults });
  return {
    spec: {
      inputs: createObject(),
      outputs: createObject(
        Object.keys(outputs).map((name): [string, OutputSpec] => [
          name,
          { type: "string", default: "", isSensitive: false },
        ]),
      ),
    },
    definition: {
      type: "steps",
      steps,
      env: readEnv(reading, file, value),
      outputs,
      github: {
        using: "job",
        contexts: { strategy, matrix, needs, inputs, vars },
        container,
        ...(Object.keys(services).length === 0 ? {} : { services }),
      },
    },
  };
}

function readEnv(reading: Reading, file: WorkflowFile, job: YamlNode): Record<string, string> {
  const pointer = ["definition", "env"];
  const outer = readTexts(reading, childOf(file.root, "env"), {
    what: `"env" of the workflow`,
    at: "env",
    pointer,
    isEnv: true,
  });
  const inner = readTexts(reading, childOf(job, "env"), {
    what: `"env" of the job`,
    at: "job-env",
    pointer,
    isEnv: true,
  });
  return Object.assign(createObject<string>(), outer, inner);
}

/** `defaults.run` of the workflow, or, with contexts, of the job. */
function readDefaults(reading: Reading, of: YamlNode, contexts?: Contexts): RunDefaults {
  const whose = contexts === undefined ? "the workflow" : "the job";
  const run = readOnly(reading, childOf(of, "defaults"), { what: `"defaults" of ${whose}`, keys: ["run"] });
  const keys = ["shell", "working-directory"];
  const texts = readOnly(reading, run["run"], { what: `"defaults.run" of ${whose}`, keys });
  const { shell, "working-directory": dir } = texts;
  const read = (node: YamlNode | undefined, name: "shell" | "working-directory"): string | undefined => {
    if (node === undefined) return undefined;
    const what = `"defaults.run.${name}" of ${whose}`;
    if (contexts === undefined && name === "working-directory") return literalOf(reading, node, what);
    if (contexts === undefined && literalOf(reading, node, what) === undefined) return undefined;
    const place = { what, at: "job-defaults-run" } as const;
    return name === "shell" ? shellOf(reading, node, place) : templateOf(reading, node, place);
  };
  const foundShell = read(shell, "shell");
  const foundDir = read(dir, "working-directory");
  return { ...(foundShell ? { shell: foundShell } : {}), ...(foundDir ? { workDir: foundDir } : {}) };
}

function readOnly(
  reading: Reading,
  node: YamlNode | undefined,
  { what, keys }: { readonly what: string; readonly keys: readonly string[] },
): Readonly<Record<string, YamlNode>> {
  const found: Record<string, YamlNode> = createObject();
  for (const [name, { key, value }] of entriesOf(reading, node, what)) {
    if (keys.includes(name)) found[name] = value;
    else reportUnknownKey(reading, { name, key, what }, { known: keys });
  }
  return found;
}
