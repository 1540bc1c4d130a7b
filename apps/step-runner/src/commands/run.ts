import { defineCommand, flag, grouped, type OptionsOf, UsageError } from "@steps/console";
import { errors, print } from "@steps/console/terminal";
import { existsSync } from "node:fs";
import type { Engine } from "@steps/engine";
import { isStepsError, MAX_TIMER_MS, type RuntimeValue, sensitive } from "@steps/model";
import type { InputSpec, Spec } from "@steps/model/definition";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import type { StepReference } from "@steps/model/reference";
import { stepsEnvironment, variablesFromEnvironment } from "../flags/job-flags.ts";
import { gitFlags } from "../flags/reference-argument.ts";
import { runFlags } from "../flags/run-flags.ts";
import { type Definition, readRunInput, type RunInput } from "../run/read-run-input.ts";
import type { CommandJob } from "../run/command-job.ts";
import { JobOutputs } from "../run/job-outputs.ts";
import { type JobSource, runJob } from "../run/run-job.ts";

const flags = {
  inputs: flag.commaPairs({
    summary: "Inputs of the step, read by their declared types; lists and objects are JSON; repeat for more",
  }),
  json: flag.text({ placeholder: "JSON|-", summary: "Run what this JSON says, or what standard input says" }),
  report: flag.choice(["json"], {
    summary: "Print the result and the outputs on standard output; the output of the steps goes to standard error then",
  }),
  ...runFlags,
  ...grouped("Environment and secrets of the steps", {
    env: flag.commaPairs({ summary: "Variables of the environment that the step starts from; repeat for more" }),
    job: flag.commaPairs({ summary: "Job variables, ${{ vars.NAME }}; repeat for more" }),
  }),
  ...gitFlags,
  ...grouped("The run and its records", {
    "text-proto-step-file": flag.text({
      placeholder: "FILE",
      summary: "Run the definition in this file: a baseline message in protobuf's text form",
    }),
    "work-dir": flag.path({
      placeholder: "DIR",
      summary: "Where the step runs; the current directory by default",
    }),
  }),
};
type Options = OptionsOf<typeof flags>;

export const run = defineCommand({
  name: "run",
  summary: "Run a step, a list of steps, or a file with either",
  usage: "[FILE|REF|-] [flags]",
  description: [
    "FILE holds a list of steps, which run in the current directory, or a step, which runs as the step of the file's folder. " +
      "- is the same from standard input. The outputs are printed at the end, on standard error.",
    "REF names a step: a folder (./step, /opt/step), a git repository (host/group/project@REV, " +
      "host/group/project/-/dir@REV below its steps/ folder, git+https://host/project//dir@REV from its root), " +
      "or a zip file (./step.zip//dir, https://host/step.zip).",
    "A GitHub action is named as after uses: in a workflow: owner/repo@REF, owner/repo/dir@REF, docker://image, or a folder " +
      "with an action.yml.",
    "--json takes a list of steps, a definition, {spec, definition}, or a baseline message.",
    "Several inputs may stand in one --inputs, as GitLab's step runner takes them: a comma with NAME= behind it begins the next one. " +
      `A value that holds such a comma goes into double quotes with its name: --inputs '"query=a,b=c"'. The same is true of --env and --job.`,
  ],
  flags,
  positionals: { min: 0, max: 1 },
  examples: [
    ["step-runner run steps.yml", "run the steps in a file"],
    ["step-runner run ./greet --inputs who=world", "run the step in a folder"],
    ["step-runner run gitlab.com/group/project/-/greet@v1 --inputs who=world", "run a step of a git repository"],
    ["step-runner run owner/repo@v1 --inputs fetch-depth=0", "run a GitHub action"],
    [`step-runner run --json '[{"name":"a","script":"echo hi"}]'`, "run a list of steps"],
  ],
  run: execute,
});

async function execute(options: Options, [named]: readonly string[]): Promise<number> {
  const { workDir = process.cwd() } = options;
  if (!existsSync(workDir)) throw new UsageError(`--work-dir is "${workDir}", which does not exist`);
  const input = await readRunInput(options, named);
  if (input === undefined) return COMMAND_EXITS.input.code;
  refuseInputs(options, input);
  const vars = { ...variablesFromEnvironment(options), ...options.job };
  const job = {
    entry: "run",
    vars,
    env: { ...stepsEnvironment(options, vars), ...options.env },
    workDir,
    baseDir: workDir,
  } as const;
  const outputs = new JobOutputs();
  const source: JobSource = async (engine, signal) => {
    const given = { inputs: options.inputs, granted: Object.keys(options.secret) };
    const invoked = await giveInputs(input, given, (step) => specOf(engine, step, { ...options, workDir, signal }));
    return { ...job, ...invoked };
  };
  const isJson = options.report === "json";
  return runJob(options, source, {
    onEvent: outputs.apply,
    printReport: isJson ? (ended) => print(`${JSON.stringify(outputs.report(ended), null, 2)}\n`) : undefined,
    tellOutputs: () => tellOutputs(outputs),
  });
}

function refuseInputs({ inputs }: Options, input: RunInput): void {
  const [name] = Object.keys(inputs);
  if (name === undefined || input.step !== undefined || Object.keys(input.specDefinition.spec.inputs).length > 0)
    return;
  throw new UsageError(
    `The input "${name}" is given to ${input.source}, which takes none`,
    "A list of steps has no inputs; --job NAME=VALUE gives it a job variable, ${{ vars.NAME }}.",
  );
}

async function tellOutputs(outputs: JobOutputs): Promise<void> {
  const table = await outputs.table();
  if (table !== "") void errors.writeLines(`Outputs:\n${table}`);
}

/**
 * A job of one step whose inputs are the job's own, so that what was typed is read by its declared type, is data and no
 * expression, and is known to be sensitive before anything is written down.
 */
async function giveInputs(
  input: RunInput,
  {
    inputs: given,
    granted,
  }: { readonly inputs: Readonly<Record<string, string>>; readonly granted: readonly string[] },
  specOfStep: (step: StepReference) => Promise<Spec | undefined>,
): Promise<Definition & Pick<CommandJob, "inputs">> {
  const names = Object.keys(given);
  if (input.step === undefined) return { ...input, inputs: mark(given, input.specDefinition.spec) };
  const spec = names.length === 0 ? undefined : await specOfStep(input.step);
  // The names of an action's inputs may hold what no input of a job may.
  const ownName = (name: string, i: number): string => (input.step?.kind === "action" ? `input_${i}` : name);
  const own = Object.fromEntries(names.map((name, i) => [ownName(name, i), portOf(spec, name)]));
  const inputs = Object.fromEntries(names.map((name, i) => [name, `\${{ inputs.${ownName(name, i)} }}`]));
  const values = Object.fromEntries(names.map((name, i) => [ownName(name, i), given[name] ?? ""]));
  const secrets = Object.fromEntries(granted.map((name) => [name, `\${{ secrets["${name}"] }}`]));
  const invocation = {
    name: "",
    step: input.step,
    inputs,
    env: {},
    ...(granted.length === 0 ? {} : { secrets }),
  };
  return {
    source: input.source,
    specDefinition: {
      spec: { inputs: own, outputs: {} },
      definition: { type: "steps", steps: [invocation], env: {}, outputs: {} },
    },
    inputs: mark(values, { inputs: own, outputs: {} }),
  };
}

// An input that the step does not have is text until the step refuses it. Without a spec there is nobody to say what may
// be written down, so it is kept like a secret.
function portOf(spec: Spec | undefined, name: string): InputSpec {
  const port = spec !== undefined && Object.hasOwn(spec.inputs, name) ? spec.inputs[name] : undefined;
  return { type: port?.type ?? "string", isSensitive: port?.isSensitive ?? spec === undefined };
}

function mark(given: Readonly<Record<string, string>>, spec: Spec): Record<string, RuntimeValue> {
  return Object.fromEntries(
    Object.entries(given).map(([name, text]) => [
      name,
      spec.inputs[name]?.isSensitive === true ? sensitive(text) : text,
    ]),
  );
}

// A step that cannot be loaded fails again when it runs, and then it is in the trace; the job's time is not spent here.
async function specOf(
  engine: Engine,
  step: StepReference,
  options: Pick<Options, "timeout" | "lenient"> & { readonly workDir: string; readonly signal: AbortSignal },
): Promise<Spec | undefined> {
  const { workDir, timeout: timeoutMs } = options;
  const deadline = timeoutMs === undefined || timeoutMs > MAX_TIMER_MS ? [] : [AbortSignal.timeout(timeoutMs)];
  const signal = AbortSignal.any([options.signal, ...deadline]);
  try {
    return (await engine.load(step, workDir, { signal, isLenient: options.lenient })).specDefinition.spec;
  } catch (cause) {
    if (isStepsError(cause) || signal.aborted) return undefined;
    throw cause;
  }
}
