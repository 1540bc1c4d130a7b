import { defineCommand, flag, type OptionsOf } from "@steps/console";
import { print } from "@steps/console/terminal";
import { encodeSpecDefinition } from "@steps/model/baseline";
import { COMMAND_EXITS } from "@steps/model/exit-codes";

import { inputFlags, type InputOptions, readInput } from "../read-input.ts";

const flags = {
  ...inputFlags,
  eager: flag.boolean({ summary: "Compile what the steps name, too, and print the tree" }),
  output: flag.choice(["json", "yaml"], { summary: "The form of the definition", default: "json" }),
};
type Options = OptionsOf<typeof flags>;

export const compile = defineCommand({
  name: "compile",
  summary: "Print the baseline definition of steps, a step file, a job or a reference",
  usage: "[FILE|REF|-] [flags]",
  description: [
    "Without an argument the variable STEPS is read, or, where it is not set or --job-name is given, the .gitlab-ci.yml of this folder or of the nearest above it. Nothing is run; a reference is fetched.",
    "With --eager every step that is named is fetched and compiled too, at any depth, but those whose reference holds an " +
      "expression; the inputs that each is given are checked against its spec, all that is wrong is said at once, and what is " +
      "printed is the tree of all baselines.",
  ],
  flags,
  positionals: { min: 0, max: 1 },
  examples: [
    ["step-runner compile ./greet/step.yml", "compile a step file"],
    ["step-runner compile --eager .gitlab-ci.yml --job-name test", "find every mistake of a job before it runs"],
    ["step-runner compile .gitlab-ci.yml --job-name test --output yaml", "see what a job becomes"],
    [`step-runner compile --json '[{"name":"a","script":"echo hi"}]'`, "compile a list of steps"],
  ],
  run,
});

async function run(options: Options, [path]: readonly string[]): Promise<number> {
  const compiled = options.eager ? await readTree(options, path) : await readBaseline(options, path);
  if (compiled === undefined) return COMMAND_EXITS.input.code;
  await print(
    options.output === "yaml" ? (await import("yaml")).stringify(compiled) : `${JSON.stringify(compiled, null, 2)}\n`,
  );
  return 0;
}

async function readBaseline(options: InputOptions, path: string | undefined): Promise<unknown> {
  const { specDefinition } = await readInput(options, path);
  return specDefinition === undefined ? undefined : encodeSpecDefinition(specDefinition);
}

async function readTree(options: InputOptions, path: string | undefined): Promise<unknown> {
  const { compileTree } = await import("../compile-tree.ts");
  return compileTree(options, path);
}
