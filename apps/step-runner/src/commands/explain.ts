import { existsSync } from "node:fs";
import { defineCommand, flag, type OptionsOf, UsageError } from "@steps/console";
import { print, terminalOf } from "@steps/console/terminal";
import { CompileError } from "@steps/engine";
import { jobVariables } from "@steps/engine/environment";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import { lockFlags, sourceFlags } from "../flags/component-flags.ts";
import { showDiagnostics } from "../input/diagnose.ts";
import { openEngine } from "../open-engine.ts";
import { gitFlags, readReference } from "../flags/reference-argument.ts";
import { fetchFlags } from "../flags/run-flags.ts";
import { StopSignals } from "../signals.ts";
import { isCiFile } from "../files/find-files.ts";
import { isWorkflow } from "../input/is-workflow.ts";

const flags = {
  format: flag.choice(["text", "json"], { summary: "The form of the answer", default: "text" }),
  lenient: flag.boolean({ summary: "Unknown keys are warnings", env: "STEP_RUNNER_LENIENT" }),
  ...gitFlags,
  ...fetchFlags,
  ...sourceFlags,
  ...lockFlags,
};
type Options = OptionsOf<typeof flags>;

export const explain = defineCommand({
  name: "explain",
  summary: "Say what a step takes, gives and does, and where it comes from",
  usage: "REF [flags]",
  description: ["REF is what run takes. The step is fetched if it is not here, and not run."],
  flags,
  positionals: { min: 0, max: 1 },
  examples: [
    ["step-runner explain ./greet", "see the inputs of a step in a folder"],
    ["step-runner explain gitlab.com/group/project/-/greet@v1 --format json", "for machines"],
    ["step-runner explain builtin://docker/auth", "a step of this program"],
    ["step-runner explain owner/repo@v1", "a GitHub action"],
  ],
  run,
});

async function run(options: Options, [named]: readonly string[]): Promise<number> {
  if (named !== undefined && (isCiFile(named) || isWorkflow({ format: "auto" }, named)) && existsSync(named))
    throw new UsageError(`"${named}" holds jobs, not steps`, `step-runner pipeline ${named} --list shows them.`);
  const reference = readReference(options, named);
  if (reference === undefined) throw new UsageError("No step is named", "Name one: step-runner explain ./step");
  await using engine = openEngine(options);
  using stop = new StopSignals();
  try {
    const loaded = await engine.load(reference, process.cwd(), {
      signal: stop.signal,
      isLenient: options.lenient,
      vars: jobVariables(process.env),
      onDiagnostics: (_path, diagnostics) => showDiagnostics({}, diagnostics),
    });
    const { describeStep } = await import("../explain/describe-step.ts");
    const explanation = describeStep(reference, loaded);
    if (options.format === "json") await print(`${JSON.stringify(explanation, null, 2)}\n`);
    else {
      const { formatExplanation } = await import("../explain/format-explanation.ts");
      await print(formatExplanation(explanation, terminalOf(1)));
    }
    return 0;
  } catch (error) {
    // Its diagnostics were shown.
    if (error instanceof CompileError) return COMMAND_EXITS.input.code;
    throw error;
  }
}
