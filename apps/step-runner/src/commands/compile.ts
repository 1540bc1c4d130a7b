import { type Command, type CommandLine, print } from "@steps/console";
import { encodeSpecDefinition } from "@steps/model";

import { inputFlags, readInput } from "../read-input.ts";

export const compile: Command = {
  name: "compile",
  summary: "Print the baseline definition of steps, a step file, a job or a reference",
  usage: "[FILE|REF|-] [flags]",
  description: [
    "Without an argument the variable STEPS is read. Nothing is run; a reference is fetched.",
    "With --eager every step that is named is fetched and compiled too, at any depth, but those whose reference holds an " +
      "expression; the inputs that each is given are checked against its spec, all that is wrong is said at once, and what is " +
      "printed is the tree of all baselines.",
  ],
  flags: {
    ...inputFlags,
    eager: { type: "boolean", summary: "Compile what the steps name, too, and print the tree" },
    output: { type: "string", summary: "The form of the definition", choices: ["json", "yaml"], default: "json" },
  },
  positionals: { min: 0, max: 1 },
  examples: [
    ["step-runner compile ./greet/step.yml", "compile a step file"],
    ["step-runner compile --eager .gitlab-ci.yml --job-name test", "find every mistake of a job before it runs"],
    ["step-runner compile .gitlab-ci.yml --job-name test --output yaml", "see what a job becomes"],
    [`step-runner compile --json '[{"name":"a","script":"echo hi"}]'`, "compile a list of steps"],
  ],
  run,
};

async function run(line: CommandLine): Promise<number> {
  const compiled = line.boolean("eager") ? await readTree(line) : await readBaseline(line);
  if (compiled === undefined) return 2;
  await print(
    line.string("output") === "yaml"
      ? (await import("yaml")).stringify(compiled)
      : `${JSON.stringify(compiled, null, 2)}\n`,
  );
  return 0;
}

async function readBaseline(line: CommandLine): Promise<unknown> {
  const { specDefinition } = await readInput(line);
  return specDefinition === undefined ? undefined : encodeSpecDefinition(specDefinition);
}

async function readTree(line: CommandLine): Promise<unknown> {
  const { compileTree } = await import("../compile-tree.ts");
  return compileTree(line);
}
