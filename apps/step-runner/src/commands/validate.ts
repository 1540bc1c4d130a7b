import { defineCommand, flag, type OptionsOf } from "@steps/console";
import { errors, print } from "@steps/console/terminal";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import { existsSync } from "node:fs";
import { showDiagnostics } from "../input/diagnose.ts";
import { inputFlags } from "../input/read-input.ts";
import { type Checked, countDiagnostics } from "../reports/checked.ts";

const flags = {
  ...inputFlags,
  format: flag.choice(["text", "json", "sarif"], {
    summary: "The form of the report",
    default: "text",
  }),
  strict: flag.boolean({ summary: "Inputs and outputs without a type are errors", env: "STEP_RUNNER_STRICT" }),
};
type Options = OptionsOf<typeof flags>;

export const validate = defineCommand({
  name: "validate",
  summary: "Say what is wrong with steps, step files, jobs or references, and where",
  usage: "[FILE|FOLDER|REF|-]… [flags]",
  description: [
    "Of a folder every step file, .gitlab-ci.yml, action.yml and workflow of GitHub in it and below is read, of a .gitlab-ci.yml or workflow every job. " +
      "Without an argument the variable STEPS is read. Exit code 0 if there are no errors, 2 if there are.",
    "The text goes to standard error; JSON and SARIF go to standard output, with all that was found.",
  ],
  flags,
  positionals: { min: 0, max: 100_000 },
  examples: [
    ["step-runner validate ./greet/step.yml", "check a step file"],
    ["step-runner validate .", "check every step file and CI file below the current directory"],
    ["step-runner validate . --format sarif > steps.sarif", "for the code scanning of a forge"],
    ["step-runner validate .gitlab-ci.yml --job-name test", "check a job"],
  ],
  run,
});

async function run(options: Options, named: readonly string[]): Promise<number> {
  const { checkInputs } = await import("../validate/check-inputs.ts");
  const checked = await checkInputs(options, named);
  await report(options.format, checked);
  return countDiagnostics(checked).error > 0 ? COMMAND_EXITS.input.code : 0;
}

async function report(format: Options["format"], checked: readonly Checked[]): Promise<void> {
  switch (format) {
    case "json": {
      const { toReportJson } = await import("../reports/diagnostic-json.ts");
      return print(`${JSON.stringify(toReportJson(checked), null, 2)}\n`);
    }
    case "sarif": {
      const { toSarif } = await import("../reports/sarif.ts");
      const log = toSarif(checked, { root: process.cwd(), isFile: (name) => existsSync(name) });
      return print(`${JSON.stringify(log, null, 2)}\n`);
    }
    default:
      return say(checked);
  }
}

async function say(checked: readonly Checked[]): Promise<void> {
  for (const item of checked) {
    showDiagnostics({}, item.diagnostics, { withNotes: true });
    if (countDiagnostics([item]).error === 0) await errors.write(Buffer.from(`${item.name}: valid\n`));
  }
  if (checked.length < 2) return;
  const { error, warning, note } = countDiagnostics(checked);
  const counts = [count(error, "error"), count(warning, "warning"), count(note, "note")].join(", ");
  await errors.write(Buffer.from(`${checked.length} inputs: ${counts}\n`));
}

function count(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? "" : "s"}`;
}
