import { defineCommand } from "@steps/console";
import { print } from "@steps/console/terminal";
import { shortDigest } from "@steps/model/digest";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import { openEngine } from "../open-engine.ts";
import { fetchFlags, type FetchOptions } from "../flags/run-flags.ts";

export const cacheVerify = defineCommand({
  name: "cache verify",
  summary: "Compare everything in the cache with its digest",
  usage: "[flags]",
  description: [
    "Files, archives and the records of what commits and digests lead to are read in full. What is not what it was is taken out, and fetched again when it is next used. Exit code 1 if there was something.",
  ],
  flags: fetchFlags,
  positionals: { min: 0, max: 0 },
  examples: [["step-runner cache verify", "after a disk fault, or before an offline run"]],
  run,
});

function shown(text: string): string {
  return /^[0-9a-f]{64}$/.test(text) ? shortDigest(text) : text;
}

async function run(options: FetchOptions): Promise<number> {
  await using engine = openEngine(options);
  const report = await engine.cache.verify();
  for (const { path, expected, actual } of report.damaged) {
    await print(`${path} is damaged and was taken out: it is ${shown(actual)}, not ${shown(expected)}\n`);
  }
  const count = report.trees + report.archives;
  await print(`${count} components and archives checked, ${report.damaged.length} damaged\n`);
  return report.damaged.length === 0 ? 0 : COMMAND_EXITS.failure.code;
}
