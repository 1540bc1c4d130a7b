import { defineCommand, flag, type OptionsOf } from "@steps/console";
import { print } from "@steps/console/terminal";
import { describeKept, keptDirectories, type KeptRun } from "@steps/engine/runs";
import { shortDigest } from "@steps/model/digest";
import { printable } from "@steps/model/diagnostic";
import { formatDuration } from "@steps/trace";
import { alignColumns } from "@steps/pipeline-view";
import { stateDir } from "../flags/run-flags.ts";
import { stateOf } from "../traces/find-trace.ts";

const flags = {
  json: flag.boolean({ summary: "Print JSON" }),
  limit: flag.integer({ placeholder: "N", summary: "How many are listed at most; 0 for all", default: "20" }),
  "state-dir": stateDir,
};
type Options = OptionsOf<typeof flags>;

export const traceLs = defineCommand({
  name: "trace ls",
  summary: "List the runs that are kept, the newest first",
  usage: "[flags]",
  description: [
    "Each line has the beginning of the id, by which trace show and trace diff find the run, the time at which it began, its result, how " +
      "long it took, and what ran. The jobs of a pipeline have lines of their own.",
  ],
  flags,
  positionals: { min: 0, max: 0 },
  examples: [
    ["step-runner trace ls", "see what ran on this machine"],
    ["step-runner trace ls --json --limit 1", "the newest run, for a program"],
  ],
  run,
});

async function run(options: Options): Promise<number> {
  const { limit, json } = options;
  const all = keptDirectories(stateOf(options));
  const runs = (limit === 0 ? all : all.slice(0, limit)).flatMap((directory) => describeKept(directory) ?? []);
  if (json) await print(`${JSON.stringify(runs.map(encode), null, 2)}\n`);
  else await print(runs.length === 0 ? "No run is kept\n" : alignColumns(runs.map(row)));
  return 0;
}

function encode({ startedAt, ...run }: KeptRun): unknown {
  return { ...run, startedAt: new Date(startedAt).toISOString() };
}

function row({ id, startedAt, status, durationMs, kind, jobName, source }: KeptRun): readonly string[] {
  const time = durationMs === undefined ? "" : formatDuration(Math.max(0, durationMs));
  const what =
    kind === "pipeline" ? `pipeline ${source}` : jobName === undefined ? source : `job ${jobName} of ${source}`;
  return [shortDigest(id), localTime(startedAt), status, time, printable(what)];
}

/** `2026-11-22 14:03:59` in the time zone of the user. */
function localTime(ms: number): string {
  const at = new Date(ms);
  const pad = (part: number): string => String(part).padStart(2, "0");
  const day = `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
  return `${day} ${pad(at.getHours())}:${pad(at.getMinutes())}:${pad(at.getSeconds())}`;
}
