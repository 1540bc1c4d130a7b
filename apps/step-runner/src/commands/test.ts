import { defineCommand, flag, grouped, type OptionsOf, UsageError } from "@steps/console";
import { errors, print, terminalOf } from "@steps/console/terminal";
import { exitCodeOf } from "@steps/model";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import { availableParallelism } from "node:os";
import { lockFlags, sourceFlags } from "../flags/component-flags.ts";
import { fetchFlags } from "../flags/run-flags.ts";
import { StopSignals } from "../signals.ts";

const flags = {
  name: flag.text({ placeholder: "TEXT", summary: "Run only the cases whose names hold this text" }),
  report: flag.choice(["junit", "json"], {
    summary: "Print a report for a program on standard output; the text goes to standard error then",
  }),
  jobs: flag.integer({
    short: "j",
    min: 1,
    max: 1000,
    summary: "How many cases run at once; as many as there are cores by default",
    env: "STEP_RUNNER_JOBS",
  }),
  timeout: flag.duration({
    summary: "How long a case may take",
    default: "5m",
    env: "STEP_RUNNER_TIMEOUT",
    isPositive: true,
  }),
  verbose: flag.boolean({ short: "v", summary: "Show the output of all cases in full, of those that pass too" }),
  quiet: flag.boolean({ short: "q", summary: "Show only what fails", env: "STEP_RUNNER_QUIET" }),
  ...grouped("How steps are read", {
    lenient: flag.boolean({ summary: "Unknown keys in step files are warnings", env: "STEP_RUNNER_LENIENT" }),
  }),
  ...fetchFlags,
  ...sourceFlags,
  ...lockFlags,
};
type Options = OptionsOf<typeof flags>;

export const test = defineCommand({
  name: "test",
  summary: "Run the test cases beside steps: what goes in, and what has to come out",
  usage: "[FILE|FOLDER]… [flags]",
  description: [
    "Cases are in files NAME.test.yml; of a folder all in it and below are run, without an argument those of this folder. " +
      "A case calls the step of its folder, or the one that step: names, in an empty folder of its own: with inputs, env, vars, secrets and files. " +
      "It expects an exit code (0), and outputs, exports, files and messages as far as it names them.",
    "Exit code 0 if all cases pass, 1 if one fails, 2 if a file is wrong.",
  ],
  flags,
  positionals: { min: 0, max: 100_000 },
  examples: [
    ["step-runner test", "run all cases in this folder and below"],
    ["step-runner test greet --name loud -v", "run some cases of a step, with their output"],
    ["step-runner test --report junit > tests.xml", "for the report of a CI job"],
  ],
  run,
});

async function run(options: Options, named: readonly string[]): Promise<number> {
  const { readCases } = await import("../testing/read-cases.ts");
  const all = readCases(named);
  if (all === undefined) return COMMAND_EXITS.input.code;
  const { name = "" } = options;
  const cases = all.filter((one) => one.name.includes(name));
  if (cases.length === 0)
    throw new UsageError(
      name === ""
        ? `There are no cases in ${named.length === 0 ? "." : named.join(", ")}`
        : `No case has "${name}" in its name`,
      name === ""
        ? "step-runner init writes a step with a test that shows the form."
        : `There are ${all.length} cases.`,
    );
  const { testCases } = await import("../testing/test-cases.ts");
  const { formatSummary, formatResult, countResults } = await import("../testing/format-results.ts");
  const isReport = options.report !== undefined;
  const terminal = terminalOf(isReport ? 2 : 1);
  const say = (text: string): void => void (isReport ? errors.writeLines(text) : print(text));
  using stop = new StopSignals();
  let file = "";
  const start = performance.now();
  const results = await testCases(
    cases,
    { ...options, jobs: options.jobs ?? availableParallelism() },
    stop.signal,
    (result) => {
      if (options.quiet && result.differences.length === 0) return;
      if (file !== result.case.file) say(`${result.case.file}\n`);
      file = result.case.file;
      say(formatResult(result, terminal, options.verbose));
    },
  );
  if (options.report !== undefined) {
    const { formatJson, formatJunit } = await import("../testing/report-results.ts");
    await print(options.report === "json" ? formatJson(results) : formatJunit(results));
  }
  const { failed } = countResults(results);
  if (!options.quiet || failed > 0) say(formatSummary(results, performance.now() - start));
  if (stop.signal.aborted) return exitCodeOf({ status: "cancelled", signal: stop.signalName });
  return failed > 0 ? COMMAND_EXITS.failure.code : 0;
}
