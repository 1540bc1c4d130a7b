import { defineCommand, flag, type OptionsOf } from "@steps/console";
import { complain, print } from "@steps/console/terminal";
import { messageOf } from "@steps/model";
import { connectServer, loadConfig, type RunnerConfig, runnerInfo, saveConfig, systemIdOf } from "@steps/runner";
import { chooseRunners } from "../runners/choose-runners.ts";
import { configFlags, configOf } from "../runners/config-flags.ts";

const flags = {
  name: flag.text({ summary: "Only the runner of that name" }),
  delete: flag.boolean({ summary: "Take runners out of the file that their servers do not know any more" }),
  ...configFlags,
};

export const verify = defineCommand({
  name: "verify",
  summary: "Ask the servers whether they know the runners that are registered here",
  usage: "[flags]",
  flags,
  positionals: { min: 0, max: 0 },
  examples: [["runner-bridge verify --delete", "forget the runners that are gone from their servers"]],
  run: execute,
});

async function execute(options: OptionsOf<typeof flags>): Promise<number> {
  const file = configOf(options);
  const config = loadConfig(file);
  const gone: RunnerConfig[] = [];
  let failures = 0;
  for (const runner of chooseRunners(config.runners, options)) {
    const verdict = await ask(runner, systemIdOf(file));
    await print(`${runner.name}: ${verdict}\n`);
    if (verdict !== "valid") failures += 1;
    if (verdict === "not valid") gone.push(runner);
  }
  if (options.delete && gone.length > 0) {
    saveConfig(file, { ...config, runners: config.runners.filter((runner) => !gone.includes(runner)) });
  }
  return failures === 0 || (options.delete && failures === gone.length) ? 0 : 1;
}

async function ask(runner: RunnerConfig, systemId: string): Promise<string> {
  const api = connectServer(runner, { attempts: 1, firstDelayMs: 0, longestDelayMs: 0 });
  try {
    const answer = await api.verify({ token: runner.token, system_id: systemId, info: runnerInfo(runner) });
    if (answer.status === 200) return "valid";
    return answer.status === 403 ? "not valid" : `not known: the server answered ${answer.status}`;
  } catch (error) {
    complain(messageOf(error));
    return "not known: the server cannot be reached";
  } finally {
    api.close();
  }
}
