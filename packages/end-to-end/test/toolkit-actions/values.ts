import * as core from "@actions/core";

// Sends values on by every way that there is, or says by which of them they came.
const names = core.getMultilineInput("names");
const { env } = process;

if (core.getState("values") !== "") {
  const values = JSON.parse(core.getState("values")) as readonly string[];
  const changed = names.filter((name, index) => env[`STATE_${name}`] !== values[index]);
  core.info(`changed in state: ${JSON.stringify(changed)}`);
} else if (core.getInput("values") !== "") {
  const values = JSON.parse(core.getInput("values")) as readonly string[];
  core.saveState("values", core.getInput("values"));
  for (const [index, name] of names.entries()) {
    core.setOutput(name, values[index]);
    core.saveState(name, values[index]);
    core.exportVariable(`VALUE_${name}`, values[index]);
  }
} else {
  const read = (from: (name: string) => string | undefined): (string | undefined)[] => names.map((name) => from(name));
  core.setOutput(
    "inputs",
    read((name) => core.getInput(name, { trimWhitespace: false })),
  );
  core.setOutput(
    "env",
    read((name) => env[`VALUE_${name}`]),
  );
}
