import { defineCommand, flag, type OptionsOf, UsageError } from "@steps/console";
import { errors, print } from "@steps/console/terminal";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, join, relative, resolve } from "node:path";
import { EXAMPLE, LANGUAGES, type NewStep, stepFiles } from "../init/step-template.ts";

const NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

const flags = {
  description: flag.text({ placeholder: "TEXT", summary: "The purpose of the step, in a few words" }),
  language: flag.choice(LANGUAGES, { summary: "The language of its program; sh by default" }),
  input: flag.list({ placeholder: "NAME", summary: "An input, in place of who; repeat for more" }),
  output: flag.list({ placeholder: "NAME", summary: "An output, in place of greeting; repeat for more" }),
  force: flag.boolean({ summary: "Replace files that are there" }),
};
type Options = OptionsOf<typeof flags>;

export const init = defineCommand({
  name: "init",
  summary: "Create a step in a folder: a step file, its program, and a test that passes",
  usage: "[FOLDER] [flags]",
  description: [
    "Without a folder and flags it asks, on a terminal; elsewhere the folder is greet. Files that are there stay as they are, unless --force is given.",
  ],
  flags,
  positionals: { min: 0, max: 1 },
  examples: [
    ["step-runner init greet", "begin a step in the folder greet"],
    ["step-runner init steps/count --language python --input file --output words", "with a program in Python"],
  ],
  run,
});

async function run(options: Options, [folder]: readonly string[]): Promise<number> {
  const isAsked = folder === undefined && isBare(options) && process.stdin.isTTY && process.stderr.isTTY;
  const step = isAsked ? await askStep() : stepOf(options, folder ?? "greet");
  for (const name of [...step.inputs, ...step.outputs])
    if (!NAME.test(name))
      throw new UsageError(`"${name}" is no name of an input or output`, "Names are letters, digits and underscores.");
  const files = stepFiles(step);
  const there = Object.keys(files).filter((name) => existsSync(join(step.folder, name)));
  if (there.length > 0 && !options.force)
    throw new UsageError(
      `There ${there.length === 1 ? "is" : "are"} ${there.map((name) => join(step.folder, name)).join(", ")} already`,
      `Name another folder, or give --force to replace ${there.length === 1 ? "it" : "them"}.`,
    );
  await mkdir(step.folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(step.folder, name), text);
  await print(
    Object.keys(files)
      .map((name) => `${join(step.folder, name)}\n`)
      .join(""),
  );
  await errors.writeLines(
    `\nNext:\n${nextCommands(step)
      .map((command) => `  ${command}\n`)
      .join("")}`,
  );
  return 0;
}

type Placed = NewStep & { readonly folder: string };

function isBare({ description, language, input, output }: Options): boolean {
  return description === undefined && language === undefined && input.length === 0 && output.length === 0;
}

function stepOf({ description = "Greets somebody", language = "sh", input, output }: Options, folder: string): Placed {
  return {
    folder,
    name: basename(resolve(folder)),
    description,
    language,
    inputs: input.length === 0 ? ["who"] : input,
    outputs: output.length === 0 ? ["greeting"] : output,
  };
}

async function askStep(): Promise<Placed> {
  const { askTexts } = await import("../init/ask-step.ts");
  const given = await askTexts({
    folder: { question: "Folder", answer: "greet" },
    description: { question: "What does it do", answer: "Greets somebody" },
    language: { question: `Language (${LANGUAGES.join(", ")})`, answer: "sh" },
    inputs: { question: "Inputs", answer: "who" },
    outputs: { question: "Outputs", answer: "greeting" },
  });
  const language = LANGUAGES.find((one) => one === given.language);
  if (language === undefined) throw new UsageError(`"${given.language}" is none of ${LANGUAGES.join(", ")}`);
  const { folder, description, inputs, outputs } = given;
  return {
    folder,
    name: basename(resolve(folder)),
    description,
    language,
    inputs: words(inputs),
    outputs: words(outputs),
  };
}

function words(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== "");
}

function nextCommands({ folder, inputs: [first] }: Placed): readonly string[] {
  const path = relative(process.cwd(), resolve(folder));
  const reference = path === "" ? "./" : path.startsWith("..") ? path : `./${path}`;
  return [
    `step-runner test ${path === "" ? "." : path}`,
    `step-runner run ${reference}${first === undefined ? "" : ` --inputs ${first}=${EXAMPLE}`}`,
    `step-runner explain ${reference}`,
  ];
}
