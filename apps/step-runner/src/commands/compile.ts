import { writeStepFile } from "@steps/compiler";
import { defineCommand, flag, type OptionsOf, UsageError } from "@steps/console";
import { print } from "@steps/console/terminal";
import { encodeSpecDefinition } from "@steps/model/baseline";
import type { SpecDefinition } from "@steps/model/definition";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import { inputFlags, type InputOptions, readInput } from "../input/read-input.ts";
import { situationFlags } from "../situation/situation-flags.ts";

const flags = {
  ...inputFlags,
  ...situationFlags,
  eager: flag.boolean({ summary: "Compile what the steps name, too, and print the tree" }),
  output: flag.choice(["json", "yaml", "steps"], {
    short: "o",
    summary:
      "The form of what is printed: the baseline as JSON or YAML, or a step file with the same steps; a step file with --format gitlab-ci, otherwise JSON",
  }),
};
type Options = OptionsOf<typeof flags>;

export const compile = defineCommand({
  name: "compile",
  summary: "Print the baseline definition of steps, a step file, a job or a reference",
  usage: "[FILE|REF|-] [flags]",
  description: [
    "Without an argument the variable STEPS is read, or, where it is not set or --job-name is given, the .gitlab-ci.yml of this folder or of the nearest above it. Nothing is run; a reference is fetched. " +
      "A job is printed as a runner has it that starts with an empty folder, in the situation that the flags name; local and pipeline have a copy of the project there, and no get_sources.",
    "With --eager every step that is named is fetched and compiled too, at any depth, but those whose reference holds an " +
      "expression; the inputs that each is given are checked against its spec, all that is wrong is said at once, and what is " +
      "printed is the tree of all baselines.",
  ],
  flags,
  positionals: { min: 0, max: 1 },
  examples: [
    ["step-runner compile ./greet/step.yml", "compile a step file"],
    ["step-runner compile --eager .gitlab-ci.yml --job-name test", "find every mistake of a job before it runs"],
    ["step-runner compile --format gitlab-ci --job-name test", "see the steps that a job becomes, as a step file"],
    [`step-runner compile --json '[{"name":"a","script":"echo hi"}]'`, "compile a list of steps"],
  ],
  run,
});

async function run(options: Options, [path]: readonly string[]): Promise<number> {
  const { output = options.format === "gitlab-ci" && !options.eager ? "steps" : "json" } = options;
  if (output === "steps") {
    if (options.eager) throw new UsageError("--eager is given", "A tree of baselines is JSON or YAML.");
    const { specDefinition } = await readInput(options, path);
    if (specDefinition === undefined) return COMMAND_EXITS.input.code;
    await print(await formatStepFile(specDefinition));
    return 0;
  }
  const compiled = options.eager ? await readTree(options, path) : await readBaseline(options, path);
  if (compiled === undefined) return COMMAND_EXITS.input.code;
  await print(
    output === "yaml" ? (await import("yaml")).stringify(compiled) : `${JSON.stringify(compiled, null, 2)}\n`,
  );
  return 0;
}

async function formatStepFile(specDefinition: SpecDefinition): Promise<string> {
  const { stringify } = await import("yaml");
  // Long texts stay on their lines, as an author would leave them.
  const texts = writeStepFile(specDefinition).map((document) =>
    stringify(document, { lineWidth: 0, aliasDuplicateObjects: false }),
  );
  return texts.join("---\n");
}

async function readBaseline(options: InputOptions, path: string | undefined): Promise<unknown> {
  const { specDefinition } = await readInput(options, path);
  return specDefinition === undefined ? undefined : encodeSpecDefinition(specDefinition);
}

async function readTree(options: InputOptions, path: string | undefined): Promise<unknown> {
  const { compileTree } = await import("../input/compile-tree.ts");
  return compileTree(options, path);
}
