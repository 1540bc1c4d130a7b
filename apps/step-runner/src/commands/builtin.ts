import { runBuiltin } from "@steps/builtins/run";
import { defineCommand } from "@steps/console";

/** The process of a built-in step: what `builtin://NAME` starts. */
export const builtin = defineCommand({
  name: "builtin",
  summary: "Do what a built-in step does, as its process",
  usage: "NAME [post]",
  description: ["The runner calls it for step: builtin://NAME; inputs and files are in the environment."],
  flags: {},
  positionals: { min: 1, max: 2 },
  isHidden: true,
  examples: [["step-runner builtin docker/auth", "add credentials, inside of a step"]],
  async run(_options, [name = "", phase = "main"]) {
    const log = (text: string): void => void process.stdout.write(`${text}\n`);
    await runBuiltin(name, { env: process.env, workDir: process.cwd(), log, phase });
    return 0;
  },
});
