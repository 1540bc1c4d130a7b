import { existsSync } from "node:fs";
import { compileInput } from "@steps/compiler";
import { ambientEnvironment } from "@steps/engine";
import { emptySpec, formatReference, type SpecDefinition, type StepReference, type Value } from "@steps/model";
import { type Command, type CommandLine, UsageError } from "../command.ts";
import { showDiagnostics } from "../diagnose.ts";
import { readStdin } from "../read-stdin.ts";
import { gitFlags, readReference } from "../reference-argument.ts";
import { runFlags } from "../run-flags.ts";
import { absolute, type JobRequest, runJob } from "../run-job.ts";

export const run: Command = {
  name: "run",
  summary: "Run one step, or a list of steps given as JSON",
  usage: "[REF] [flags]",
  description: [
    "REF names a step: a folder (./step, /opt/step), a git repository (host/group/project@REV, " +
      "host/group/project/-/dir@REV below its steps/ folder, git+https://host/project//dir@REV from its root), " +
      "a zip file (./step.zip//dir, https://host/step.zip), or - for a definition on standard input.",
    "--json takes a list of steps, a definition, {spec, definition}, or a baseline message.",
  ],
  flags: {
    inputs: { type: "pairs", summary: "Inputs of the step; a value that is JSON for a list or object is taken as one" },
    env: { type: "pairs", summary: "Variables of the environment that the step starts from" },
    job: { type: "pairs", summary: "Job variables, ${{ vars.NAME }}" },
    json: { type: "string", placeholder: "JSON|-", summary: "Run what this JSON says, or what standard input says" },
    "work-dir": {
      type: "string",
      placeholder: "DIR",
      summary: "Where the step runs; the current directory by default",
    },
    ...gitFlags,
    ...runFlags,
  },
  positionals: { min: 0, max: 1 },
  examples: [
    ["step-runner run ./greet --inputs who=world", "run the step in a folder"],
    ["step-runner run gitlab.com/group/project/-/greet@v1 --inputs who=world", "run a step of a git repository"],
    [`step-runner run --json '[{"name":"a","script":"echo hi"}]'`, "run a list of steps"],
  ],
  run: execute,
};

async function execute(line: CommandLine): Promise<number> {
  const workDir = absolute(line.string("work-dir") ?? ".");
  if (!existsSync(workDir)) throw new UsageError(`--work-dir is "${workDir}", which does not exist`);
  const inputs = readInputs(line);
  const input = readDefinition(line, inputs);
  if (input === undefined) return 2;
  return runJob(line, {
    entry: "run",
    vars: line.pairs("job"),
    env: { ...ambientEnvironment(process.env), ...line.pairs("env") },
    workDir,
    baseDir: workDir,
    ...input,
  });
}

type Definition = Pick<JobRequest, "source" | "specDefinition" | "positionOf">;

function readDefinition(line: CommandLine, inputs: Record<string, Value>): Definition | undefined {
  const json = line.string("json") ?? (line.positionals[0] === "-" ? "-" : undefined);
  if (json === undefined) {
    const reference = readReference(line);
    if (reference === undefined)
      throw new UsageError("No step is named", "Name one: step-runner run ./step, or give --json.");
    return { source: formatReference(reference), specDefinition: invoke(reference, inputs) };
  }
  if (line.string("json") !== undefined && line.positionals.length > 0)
    throw new UsageError("Both a step and --json are given");
  const source = json === "-" ? { name: "<stdin>", text: readStdin() } : { name: "<argument>", text: json };
  const compiled = compileInput(source, { isLenient: line.boolean("lenient") });
  showDiagnostics(compiled.diagnostics);
  const { specDefinition } = compiled;
  if (specDefinition === undefined) return undefined;
  if (Object.keys(inputs).length === 0 && Object.keys(specDefinition.spec.inputs).length === 0) {
    return { source: source.name, specDefinition, positionOf: compiled.positionOf };
  }
  return {
    source: source.name,
    specDefinition: invoke({ kind: "inline", specDefinition, seesCallerInputs: false }, inputs),
  };
}

function invoke(step: StepReference, inputs: Record<string, Value>): SpecDefinition {
  const escaped = Object.fromEntries(Object.entries(inputs).map(([name, value]) => [name, escapeValue(value)]));
  return {
    spec: emptySpec,
    definition: { type: "steps", steps: [{ name: "", step, inputs: escaped, env: {} }], env: {}, outputs: {} },
  };
}

// What is typed is data, not an expression.
function escapeValue(value: Value): Value {
  if (typeof value === "string") return value.replaceAll("${{", "\\${{");
  if (Array.isArray(value)) return value.map(escapeValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, escapeValue(item)]));
}

/** Texts stay texts, to be read by the declared type; JSON lists, objects and quoted strings are read here. */
function readInputs(line: CommandLine): Record<string, Value> {
  return Object.fromEntries(
    Object.entries(line.pairs("inputs")).map(([name, text]) => {
      if (!/^\s*["[{]/.test(text)) return [name, text];
      try {
        return [name, JSON.parse(text) as Value];
      } catch (cause) {
        // Not JSON after all: a text that begins like it.
        void cause;
        return [name, text];
      }
    }),
  );
}
