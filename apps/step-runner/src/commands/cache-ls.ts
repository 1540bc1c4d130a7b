import { defineCommand, flag, type OptionsOf } from "@steps/console";
import { print } from "@steps/console/terminal";
import type { CacheEntry } from "@steps/cache";
import { shortDigest } from "@steps/model/digest";
import { openEngine } from "../open-engine.ts";
import { fetchFlags } from "../flags/run-flags.ts";

const flags = { json: flag.boolean({ summary: "Print JSON" }), ...fetchFlags };
type Options = OptionsOf<typeof flags>;

export const cacheLs = defineCommand({
  name: "cache ls",
  summary: "List the components in the cache",
  usage: "[flags]",
  flags,
  positionals: { min: 0, max: 0 },
  examples: [["step-runner cache ls", "see what is kept, and how large it is"]],
  run,
});

const MIB = 1_048_576;

async function run(options: Options): Promise<number> {
  await using engine = openEngine(options);
  const entries = await engine.cache.list();
  if (options.json) await print(`${JSON.stringify(entries, null, 2)}\n`);
  else await print(entries.length === 0 ? "The cache is empty\n" : entries.map(row).join(""));
  return 0;
}

function row(entry: CacheEntry): string {
  const tree = shortDigest(entry.gitTree);
  const used = new Date(entry.lastUsedAt).toISOString().slice(0, 16).replace("T", " ");
  const size = entry.bytes < MIB ? `${Math.ceil(entry.bytes / 1024)} KiB` : `${(entry.bytes / MIB).toFixed(1)} MiB`;
  const version = entry.version === entry.resolvedVersion ? "" : `@${entry.version}`;
  return `${tree}  ${size.padStart(9)}  ${used}  ${entry.kind}  ${entry.uri}${version} ${shortDigest(entry.resolvedVersion)}${entry.isLeased ? " in use" : ""}\n`;
}
