import { type Command, type CommandLine, print } from "@steps/console";
import { shortDigest } from "@steps/model";
import { openEngine } from "../open-engine.ts";
import { fetchFlags } from "../run-flags.ts";

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
  for (const { path, expected, actual } of report.damaged) {
    await print(`${path} is damaged and was taken out: it is ${shortDigest(actual)}, not ${shortDigest(expected)}\n`);
  }
  const count = report.trees + report.archives;
  await print(`${count} components and archives checked, ${report.damaged.length} damaged\n`);
  return report.damaged.length === 0 ? 0 : 1;
}
