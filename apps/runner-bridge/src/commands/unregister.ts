import { defineCommand, type OptionsOf, UsageError } from "@steps/console";
import { complain, print } from "@steps/console/terminal";
import { messageOf } from "@steps/model";
import { connectServer, loadConfig, refusal, type RunnerConfig, saveConfig, systemIdOf } from "@steps/runner";
import { RUNNER_TOKEN_PREFIX } from "@steps/runner-api";
import { chooseFlags, chooseRunners } from "../runners/choose-runners.ts";
import { configFlags, configOf } from "../runners/config-flags.ts";

const flags = { ...chooseFlags, ...configFlags };

export const unregister = defineCommand({
  name: "unregister",
  summary: "Tell the server that this machine takes no jobs any more, and take the runner out of the file",
  usage: "--name NAME|--all [flags]",
  description: [
    "A runner that was created on the server stays there, without this machine: other machines may have its token too.",
  ],
  flags,
  positionals: { min: 0, max: 0 },
  examples: [["runner-bridge unregister --all", "unregister all runners of the file"]],
  run: execute,
});

async function execute(options: OptionsOf<typeof flags>): Promise<number> {
  if ((options.name === undefined) === !options.all) throw new UsageError("Give one of --name and --all");
  const file = configOf(options);
  const config = loadConfig(file);
  const done: RunnerConfig[] = [];
  const chosen = chooseRunners(config.runners, options);
  for (const runner of chosen) {
    try {
      await remove(runner, systemIdOf(file));
      done.push(runner);
      await print(`Unregistered runner ${runner.id} "${runner.name}"\n`);
    } catch (error) {
      complain(messageOf(error));
    }
  }
  saveConfig(file, { ...config, runners: config.runners.filter((runner) => !done.includes(runner)) });
  return done.length === chosen.length ? 0 : 1;
}

async function remove(runner: RunnerConfig, systemId: string): Promise<void> {
  const api = connectServer(runner);
  try {
    const isOfServer = runner.token.startsWith(RUNNER_TOKEN_PREFIX);
    const answer = await (isOfServer ? api.unregisterManager(runner.token, systemId) : api.unregister(runner.token));
    // One that is not known there is as good as unregistered.
    if (answer.status !== 204 && answer.status !== 404) {
      throw refusal(`The runner "${runner.name}" cannot be unregistered`, answer);
    }
  } finally {
    api.close();
  }
}
