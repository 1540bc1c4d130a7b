import type { Command, CommandLine } from "../command.ts";
import { openEngine } from "../open-engine.ts";
import { fetchFlags } from "../run-flags.ts";
import { print } from "../terminal.ts";

export const cacheLs: Command = {
  name: "cache ls",
  summary: "List the components in the cache",
  usage: "[flags]",
  flags: { json: { type: "boolean", summary: "Print JSON" }, ...fetchFlags },
  positionals: { min: 0, max: 0 },
  examples: [["step-runner cache ls", "see what is kept, and how large it is"]],
  run,
};

async function run(line: CommandLine): Promise<number> {
  await using engine = openEngine(line);
  const entries = await engine.cache.list();
  if (line.boolean("json")) await print(`${JSON.stringify(entries, null, 2)}\n`);
  else await print(entries.length === 0 ? "The cache is empty\n" : entries.map(row).join(""));
  return 0;
}

type Entry = Awaited<ReturnType<Awaited<ReturnType<typeof openEngine>>["cache"]["list"]>>[number];

function row(entry: Entry): string {
  return `${JSON.stringify(entry)}\n`;
}
