/** A step that is begun: its name is that of its folder. */
export interface NewStep {
  readonly name: string;
  readonly description: string;
  readonly language: Language;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** The languages in which a step can be begun. */
export const LANGUAGES = ["sh", "node", "python"] as const;
/** One of them. */
type Language = (typeof LANGUAGES)[number];

const PROGRAMS: Readonly<Record<Language, { readonly file: string; readonly command: string }>> = {
  sh: { file: "step.sh", command: "sh" },
  node: { file: "step.mjs", command: "node" },
  python: { file: "step.py", command: "python3" },
};

/** The files of a new step by their names: the step file, its program, and a test that passes. */
export function stepFiles(step: NewStep): Readonly<Record<string, string>> {
  return {
    "step.yml": stepFile(step),
    [PROGRAMS[step.language].file]: program(step),
    "step.test.yml": testFile(step),
  };
}

/** The value that the test gives the first input. */
export const EXAMPLE = "you";

function stepFile({ description, language, inputs, outputs }: NewStep): string {
  const { file, command } = PROGRAMS[language];
  return [
    "spec:",
    `  description: ${JSON.stringify(description)}`,
    ...ports("inputs", inputs, "world"),
    ...ports("outputs", outputs),
    "---",
    "exec:",
    `  command: [${command}, "\${{ step_dir }}/${file}"]`,
    "env:",
    // A value that a shell reads from its environment is never taken for code.
    ...inputs.map((name) => `  ${variable(name)}: \${{ inputs.${name} }}`),
    `  OUTPUT_FILE: \${{ output_file }}`,
    "",
  ].join("\n");
}

function ports(what: string, names: readonly string[], byDefault?: string): readonly string[] {
  const rest = byDefault === undefined ? "" : `\n      default: ${byDefault}`;
  return names.length === 0 ? [] : [`  ${what}:`, ...names.map((name) => `    ${name}:\n      type: string${rest}`)];
}

function program({ language, inputs, outputs }: NewStep): string {
  const first = inputs[0] === undefined ? undefined : variable(inputs[0]);
  const names = outputs.map((name) => JSON.stringify(name));
  if (language === "sh")
    return [
      "set -eu",
      `text="hello ${first === undefined ? "world" : `$${first}`}"`,
      'echo "$text"',
      ...outputs.map((name) => `step-runner set-output --file "$OUTPUT_FILE" ${name} "$text"`),
      "",
    ].join("\n");
  if (language === "node")
    return [
      'import { appendFileSync } from "node:fs";',
      "",
      `const text = ${first === undefined ? '"hello world"' : `\`hello \${process.env.${first}}\``};`,
      "console.log(text);",
      ...names.map(
        (name) => `appendFileSync(process.env.OUTPUT_FILE, JSON.stringify({ name: ${name}, value: text }) + "\\n");`,
      ),
      "",
    ].join("\n");
  return [
    "import json, os",
    "",
    `text = ${first === undefined ? '"hello world"' : `"hello " + os.environ["${first}"]`}`,
    "print(text)",
    'with open(os.environ["OUTPUT_FILE"], "a") as outputs:',
    ...names.map((name) => `    outputs.write(json.dumps({"name": ${name}, "value": text}) + "\\n")`),
    ...(names.length === 0 ? ["    pass"] : []),
    "",
  ].join("\n");
}

function testFile({ inputs, outputs }: NewStep): string {
  const [first] = inputs;
  const text = `hello ${first === undefined ? "world" : EXAMPLE}`;
  return [
    "cases:",
    "  - name: says hello",
    ...(first === undefined ? [] : [`    inputs: { ${first}: ${EXAMPLE} }`]),
    "    expect:",
    ...(outputs.length === 0 ? [] : ["      outputs:", ...outputs.map((name) => `        ${name}: ${text}`)]),
    `      messages: [${text}]`,
    ...(first === undefined ? [] : ["", "  - name: needs no inputs", "    expect:", "      messages: [hello world]"]),
    "",
  ].join("\n");
}

function variable(name: string): string {
  return `INPUT_${name.toUpperCase()}`;
}
