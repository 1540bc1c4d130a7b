import { setValueCommand } from "../flags/set-value.ts";

export const setExport = setValueCommand({
  name: "set-export",
  summary: "Set an environment variable for all later steps of the job",
  variable: "STEP_EXPORT_FILE",
  expression: "export_file",
  examples: [['step-runner set-export PATH "$PWD/bin:$PATH"', "let later steps find a program"]],
});
