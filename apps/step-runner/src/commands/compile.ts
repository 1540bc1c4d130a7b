import { type Command, type CommandLine, print } from "@steps/console";
import { encodeSpecDefinition } from "@steps/model";

import { inputFlags, readInput } from "../read-input.ts";

export const compile: Command = {
  name: "compile",
  summary: "Print the baseline definition of steps, a step file, a job or a reference",
  usage: "[FILE|REF|-] [flags]",
  description: ["Without an argument the variable STEPS is read. Nothing is run; a reference is fetched."],
  flags: {
    ...inputFlags,
    output: { type: "string", summary: "The form of the definition", choices: ["json", "yaml"], default: "json" },
  },
  positionals: { min: 0, max: 1 },
  examples: [
    ["step-runner compile ./greet/step.yml", "compile a step file"],
    ["step-runner compile .gitlab-ci.yml --job-name test --output yaml", "see what a job becomes"],
    [`step-runner compile --json '[{"name":"a","script":"echo hi"}]'`, "compile a list of steps"],
  ],
  run,
};

async function run(line: CommandLine): Promise<number> {
  const { specDefinition } = await readInput(line);
  if (specDefinition === undefined) return 2;
  const baseline = encodeSpecDefinition(specDefinition);
  await print(
    line.string("output") === "yaml"
      ? (await import("yaml")).stringify(baseline)
      : `${JSON.stringify(baseline, null, 2)}\n`,
  );
  return 0;
}
