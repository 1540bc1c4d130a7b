import { defineCommand, flag, type OptionsOf } from "@steps/console";
import { print } from "@steps/console/terminal";
import { userDirectories } from "@steps/engine/runs";
import { absolute } from "../files/absolute.ts";
import { allStores } from "../files/job-stores.ts";
import { openEngine } from "../open-engine.ts";
import { fetchFlags, stateDir } from "../flags/run-flags.ts";

const flags = {
  "max-size": flag.size({
    summary: "Keep at most this much",
    default: "2048",
    env: "STEP_RUNNER_CACHE_MAX_SIZE",
  }),
  "max-age": flag.duration({
    summary: "Remove what was not used for this time",
    default: "30d",
    env: "STEP_RUNNER_CACHE_MAX_AGE",
  }),
  "state-dir": stateDir,
  ...fetchFlags,
};
type Options = OptionsOf<typeof flags>;

export const cacheGc = defineCommand({
  name: "cache gc",
  summary: "Remove components, and caches of jobs, that were not used for long",
  usage: "[flags]",
  description: [
    "The least recently used go first; a component that a running job uses stays.",
    "The same limits hold for all that jobs of .gitlab-ci.yml files have kept on this machine: their caches, and the artifacts that local has left. Artifacts whose expire_in is over go in any case, also when the next pipeline of their project starts.",
  ],
  flags,
  positionals: { min: 0, max: 0 },
  examples: [
    ["step-runner cache gc", "keep 2 GiB and 30 days"],
    ["step-runner cache gc --max-size 0", "remove everything that is not in use"],
  ],
  run,
});

const MIB = 1_048_576;

async function run(options: Options): Promise<number> {
  await using engine = openEngine(options);
  const report = await engine.cache.collect({ maxBytes: options.maxSize, maxAgeMs: options.maxAge });
  const mib = (bytes: number) => `${(bytes / MIB).toFixed(1)} MiB`;
  const inUse = report.leased === 0 ? "" : `, ${report.leased} in use`;
  await print(`${report.removed} removed, ${mib(report.removedBytes)} freed, ${mib(report.keptBytes)} kept${inUse}\n`);
  await collectJobFiles(options, mib);
  return 0;
}

async function collectJobFiles(options: Options, mib: (bytes: number) => string): Promise<void> {
  const stores = allStores(absolute(options.stateDir ?? userDirectories(process.env).state));
  if (stores.length === 0) return;
  const { collectStores } = await import("@steps/builtins/run");
  const limits = { maxBytes: options.maxSize, maxAgeMs: options.maxAge };
  const { removed, removedBytes, keptBytes } = await collectStores(stores, limits);
  await print(`Of jobs: ${removed} removed, ${mib(removedBytes)} freed, ${mib(keptBytes)} kept\n`);
}
