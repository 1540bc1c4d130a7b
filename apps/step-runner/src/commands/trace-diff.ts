import { defineCommand, type OptionsOf } from "@steps/console";
import { print, terminalOf } from "@steps/console/terminal";
import { REPLAY_EXITS } from "@steps/model/exit-codes";
import { stateDir } from "../flags/run-flags.ts";
import { replayFlags } from "../replay/replay-flags.ts";
import { diffTraces, formatDiff } from "../replay/diff-traces.ts";
import { findTrace, RUN_LISTING, stateOf } from "../traces/find-trace.ts";

const flags = {
  strict: replayFlags.strict,
  ignore: replayFlags.ignore,
  report: replayFlags.report,
  "report-only": replayFlags["report-only"],
  "state-dir": stateDir,
};
type Options = OptionsOf<typeof flags>;

const { same, different, "trace-invalid": invalid, "runtime-drift": drift, "newer-version": newer } = REPLAY_EXITS;
const EXITS = [same, different, invalid, drift, newer].map(({ code, meaning }) => `${code} ${meaning}`).join(", ");

export const traceDiff = defineCommand({
  name: "trace diff",
  summary: "Compare two traces as replay compares a run with the one that it repeats",
  usage: "A B [flags]",
  description: [
    "A and B are files, or the beginnings of the ids of runs that are kept, as trace ls lists them; both are of a job, or both of a " +
      `pipeline, whose jobs are compared by their names. Exit codes: ${EXITS}.`,
  ],
  flags,
  positionals: { min: 2, max: 2, listedBy: RUN_LISTING },
  examples: [
    ["step-runner trace diff yesterday.json today.json", "see what differs between two runs"],
    ["step-runner trace diff 1f0c 77ab --ignore outputs.build.time", "two runs that are kept, but for one output"],
  ],
  run,
});

async function run(options: Options, [first, second]: readonly string[]): Promise<number> {
  const state = stateOf(options);
  const [a, b] = [await findTrace(first, state), await findTrace(second, state)];
  const diff = diffTraces(a, b, { countsDrift: options.strict, ignore: options.ignore });
  await print(options.report === "json" ? `${JSON.stringify(diff, null, 2)}\n` : formatDiff(diff, terminalOf(1)));
  const isDifference = diff.verdict === "different" || diff.verdict === "runtime-drift";
  return isDifference && options.reportOnly ? 0 : diff.exitCode;
}
