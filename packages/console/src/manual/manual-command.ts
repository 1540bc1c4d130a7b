import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { nearest } from "@steps/model/diagnostic";
import { type Command, defineCommand } from "../command.ts";
import * as flag from "../flag-kinds.ts";
import type { Flag, OptionsOf } from "../flag.ts";
import type { Program } from "../run-program.ts";
import { errors, print } from "../terminal.ts";
import { UsageError } from "../usage-error.ts";
import { commandPage, type Manual, pageName, programPage } from "./page.ts";

const flags: { readonly "output-dir": Flag<string | undefined> } = {
  "output-dir": flag.path({
    placeholder: "DIR",
    summary: "Write the pages of the program and of all its commands into this folder, which is made if there is none",
  }),
};

/** The command that prints manual pages, made from the tables of all commands of the program. */
export function manualCommand(program: Program, version: string): Command<typeof flags> {
  const { name } = program;
  return defineCommand({
    name: "man",
    summary: "Print the manual page of the program or of a command",
    usage: "[COMMAND] [flags]",
    description: ["A page is text for man: it shows one with -l, or by name from a folder of its path."],
    flags,
    positionals: { min: 0, max: 2, choices: [...new Set(Object.keys(program.commands).map(firstWord))] },
    examples: [
      [`${name} man | man -l -`, "read the page of the program"],
      [`${name} man --output-dir ~/.local/share/man/man1`, `keep all pages, for man ${name}`],
    ],
    run: (options, words) => run(program, version, options, words),
  });
}

async function run(
  program: Program,
  version: string,
  { outputDir }: OptionsOf<typeof flags>,
  words: readonly string[],
): Promise<number> {
  const { name, summary, commands } = program;
  const manual: Manual = { name, summary, version };
  if (outputDir !== undefined) {
    if (words.length > 0) throw new UsageError("Both a command and --output-dir are given");
    const pages = pagesOf(manual, await shownCommands(program));
    await mkdir(outputDir, { recursive: true });
    for (const [page, text] of pages) await writeFile(join(outputDir, `${page}.1`), text);
    await errors.writeLines(`${pages.length} pages written to ${outputDir}\n`);
    return 0;
  }
  if (words.length === 0) {
    await print(programPage(manual, await shownCommands(program)));
    return 0;
  }
  const wanted = words.join(" ");
  const load = Object.hasOwn(commands, wanted) ? commands[wanted] : undefined;
  if (load === undefined) {
    const near = nearest(wanted, Object.keys(commands));
    throw new UsageError(
      `There is no command "${wanted}"`,
      near === undefined ? `${name} --help lists the commands.` : `Did you mean ${name} man ${near}?`,
    );
  }
  await print(commandPage(manual, await load()));
  return 0;
}

async function shownCommands({ commands }: Program): Promise<readonly Command[]> {
  const all = await Promise.all(Object.values(commands).map((load) => load()));
  return all.filter(({ isHidden }) => isHidden !== true);
}

function pagesOf(manual: Manual, commands: readonly Command[]): readonly (readonly [string, string])[] {
  return [
    [pageName(manual.name), programPage(manual, commands)],
    ...commands.map((command) => [pageName(manual.name, command.name), commandPage(manual, command)] as const),
  ];
}

function firstWord(name: string): string {
  return name.split(" ")[0] as string;
}
