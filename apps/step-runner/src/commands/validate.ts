import { type Command, type CommandLine, errors } from "@steps/console";
import { inputFlags, readInput } from "../read-input.ts";

export const validate: Command = {
  name: "validate",
  summary: "Say what is wrong with steps, a step file, a job or a reference, and where",
  usage: "[FILE|REF|-] [flags]",
  description: ["Without an argument the variable STEPS is read. Exit code 0 if nothing is wrong, 2 if something is."],
  flags: inputFlags,
  positionals: { min: 0, max: 1 },
  examples: [
    ["step-runner validate ./greet/step.yml", "check a step file"],
    ["step-runner validate .gitlab-ci.yml --job-name test", "check a job"],
  ],
  run,
};

async function run(line: CommandLine): Promise<number> {
  const { name, specDefinition } = await readInput(line);
  if (specDefinition === undefined) return 2;
  await errors.write(Buffer.from(`${name}: valid\n`));
  return 0;
}
