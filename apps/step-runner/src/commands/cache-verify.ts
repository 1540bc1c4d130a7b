import type { Command, CommandLine } from "../command.ts";
import { openEngine } from "../open-engine.ts";
import { fetchFlags } from "../run-flags.ts";
import { print } from "../terminal.ts";

export const cacheVerify: Command = {
  name: "cache verify",
  summary: "Compare every component in the cache with its digest",
  usage: "[flags]",
  description: [
    "A component that is not what it was is taken out, and fetched again when it is next used. Exit code 1 if there was one.",
  ],
  flags: fetchFlags,
  positionals: { min: 0, max: 0 },
  examples: [["step-runner cache verify", "after a disk fault, or before an offline run"]],
  run,
};

async function run(line: CommandLine): Promise<number> {
  await using engine = openEngine(line);
  const report = await engine.cache.verify();
  for (const digest of report.tampered) await print(`${digest} is not what it was; taken out\n`);
  await print(`${report.checked} components checked, ${report.tampered.length} taken out\n`);
  return report.tampered.length === 0 ? 0 : 1;
}
