import { defineCommand, type Command } from "../command.ts";
import type { Program } from "../run-program.ts";
import { print } from "../terminal.ts";
import { UsageError } from "../usage-error.ts";
import { bashCompletion } from "./bash.ts";
import { type CompletedProgram, completedProgram } from "./completed-program.ts";
import { fishCompletion } from "./fish.ts";
import { zshCompletion } from "./zsh.ts";

const SHELLS: Readonly<Record<string, (program: CompletedProgram) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** The command that prints a completion script, made from the tables of all commands of the program. */
export function completionCommand(program: Program): Command {
  const { name } = program;
  const choices = Object.keys(SHELLS);
  return defineCommand({
    name: "completion",
    summary: "Print the script that completes commands, flags and their values in a shell",
    usage: choices.join("|"),
    description: [
      "The script is made for this version. Where it is sourced when the shell starts it is always the right one.",
    ],
    flags: {},
    positionals: { min: 1, max: 1, choices },
    examples: [
      [`echo 'source <(${name} completion bash)' >> ~/.bashrc`, "for bash"],
      [`echo 'source <(${name} completion zsh)' >> ~/.zshrc`, "for zsh, below compinit"],
      [`${name} completion fish > ~/.config/fish/completions/${name}.fish`, "for fish"],
    ],
    async run(_options, [shell = ""]) {
      const write = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
      if (write === undefined)
        throw new UsageError(`There is no completion for "${shell}"`, `It takes ${choices.join(", ")}.`);
      await print(write(await completedProgram(program)));
      return 0;
    },
  });
}
