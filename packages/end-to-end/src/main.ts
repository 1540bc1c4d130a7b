import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { tableOf } from "./table.ts";
import { TRIALS } from "./trials/all.ts";
import { type Report, runTrial } from "./trial.ts";

const HELP = `Attempts, with real processes, what must hold whatever happens, and prints how often it held.

Usage: pnpm faults [TRIAL...] [flags]

Without a name all trials run. The exit code is 1 if something did not hold. A failure names its seed.

Flags:
  --count N      Attempts of each trial; each has its own number unless given
  --seed S       The seed of the first attempt; a new one unless given. Each later attempt has the next number
  --jobs N       The jobs of each attempt, of the trials that have jobs of pods; 2000 unless given
  --small        The size that npm test has
  --report json  Print the report as JSON instead of a table
  --help

The built command of this tree is attacked; STEP_RUNNER_TEST_COMMAND names another.

Trials:
${TRIALS.map(({ name, count, holds }) => `  ${name.padEnd(18)} ${String(count).padStart(4)}  ${holds}`).join("\n")}
`;

function fail(message: string): never {
  process.stderr.write(`faults: ${message}\n`);
  process.exit(2);
}

function wholeNumber(name: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) && value >= least
    ? value
    : fail(`--${name}: ${text} is not a whole number from ${least} on`);
}

function readArguments(): ReturnType<typeof parse> {
  try {
    return parse();
  } catch (error) {
    return fail((error as Error).message);
  }
}

function parse() {
  return parseArgs({
    allowPositionals: true,
    options: {
      count: { type: "string" },
      seed: { type: "string" },
      jobs: { type: "string" },
      small: { type: "boolean", default: false },
      report: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
}

const { values, positionals } = readArguments();
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
if (values.report !== undefined && values.report !== "json") fail(`--report: ${values.report} is not json`);
const unknown = positionals.filter((name) => !TRIALS.some((trial) => trial.name === name));
if (unknown.length > 0) fail(`There is no trial ${unknown.join(", ")}; --help lists them`);
const count = wholeNumber("count", values.count, 1);
const seed = wholeNumber("seed", values.seed, 0) ?? randomInt(2 ** 31);
const size = wholeNumber("jobs", values.jobs, 1);
const isSmall = values.small;

const reports: Report[] = [];
for (const trial of TRIALS) {
  if (positionals.length > 0 && !positionals.includes(trial.name)) continue;
  const missing = trial.missing?.() ?? [];
  if (missing.length > 0) {
    process.stderr.write(`faults: ${trial.name} needs ${missing.join(", ")}, which is not installed\n`);
    if (process.env["STEPS_REQUIRE_ALL"] === "1") process.exitCode = 1;
    continue;
  }
  const attempts = count ?? (isSmall ? trial.smallCount : trial.count);
  process.stderr.write(`faults: ${trial.name}, ${attempts} attempts from seed ${seed}\n`);
  const report = await runTrial(trial, {
    count: attempts,
    seed,
    isSmall,
    size,
    onAttempt: (index, { failure }) => {
      if (failure !== undefined) process.stderr.write(`faults: ${trial.name}, seed ${seed + index}: ${failure}\n`);
    },
  });
  reports.push(report);
}
process.stdout.write(
  values.report === "json" ? `${JSON.stringify({ node: process.version, reports }, null, 2)}\n` : tableOf(reports),
);
if (reports.some(({ failures }) => failures.length > 0)) process.exitCode = 1;
