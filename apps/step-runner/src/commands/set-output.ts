import { setValueCommand } from "../flags/set-value.ts";

export const setOutput = setValueCommand({
  name: "set-output",
  summary: "Give an output of the step that calls it",
  variable: "STEP_OUTPUT_FILE",
  expression: "output_file",
  examples: [
    ['step-runner set-output version "$VERSION"', "give a text, or whatever type the output is declared with"],
    ["step-runner set-output notes - < notes.md", "give all of a file"],
    [`step-runner set-output files '["a", "b"]' --json`, "give a list"],
  ],
});
