import type { Command } from "../command.ts";
import type { Flag } from "../flag.ts";
import { factsOf, groupFlags, valueOf } from "../help.ts";
import { bold, italic, roffText, section, term, titleLine } from "./roff.ts";

/** A program as its manual names it. */
export interface Manual {
  readonly name: string;
  /** A sentence without its final period. */
  readonly summary: string;
  readonly version: string;
}

/** The name of a page: `step-runner-cache-gc` for `cache gc`. */
export function pageName(program: string, command?: string): string {
  return command === undefined ? program : `${program}-${command.replaceAll(" ", "-")}`;
}

/** The manual page of a program, in the language of man(7): its commands, and what holds for all of them. */
export function programPage(manual: Manual, commands: readonly Command[]): string {
  const { name, summary } = manual;
  return pageOf(manual, name, [
    ...section("Name", [`${roffText(name)} \\- ${roffText(summary)}`]),
    ...section("Synopsis", [`${bold(name)} ${italic("COMMAND")} [${italic("arguments")}]`]),
    ...section(
      "Commands",
      commands.flatMap((command) => term(`${bold(command.name)} ${roffText(command.usage)}`, `${command.summary}.`)),
    ),
    ...section("Flags", [
      roffText(
        `Each command has flags of its own; ${name} COMMAND --help and the pages of the commands tell them. A flag wins over its ` +
          "environment variable, which wins over a file of flags where the command takes one, which wins over the default. Switches " +
          "take --no-NAME too.",
      ),
    ]),
    ...section("Exit status", exitLines()),
    ...section("See also", [commands.map(({ name: command }) => `${bold(pageName(name, command))}(1)`).join(",\n")]),
  ]);
}

/** The manual page of one command. */
export function commandPage(manual: Manual, command: Command): string {
  const name = pageName(manual.name, command.name);
  const flags = groupFlags(command.flags).flatMap(([heading, entries]) => [
    ...(heading === "Flags" ? [] : [`.SS ${roffText(heading)}`]),
    ...entries.flatMap(([flagName, flag]) => term(flagTitle(flagName, flag), flagText(flag))),
  ]);
  return pageOf(manual, name, [
    ...section("Name", [`${roffText(name)} \\- ${roffText(command.summary)}`]),
    ...section("Synopsis", [`${bold(`${manual.name} ${command.name}`)} ${roffText(command.usage)}`]),
    ...section("Description", [
      `${roffText(command.summary)}.`,
      ...(command.description ?? []).flatMap((paragraph) => [".PP", roffText(paragraph)]),
    ]),
    ...section("Flags", flags),
    ...section("Exit status", exitLines()),
    ...section(
      "Examples",
      command.examples.flatMap(([example, does], at) => [
        ...(at === 0 ? [] : [".PP"]),
        `${roffText(`${does.charAt(0).toUpperCase()}${does.slice(1)}`)}:`,
        ".PP",
        ".nf",
        ".RS 4",
        roffText(example),
        ".RE",
        ".fi",
      ]),
    ),
    ...section("See also", [`${bold(manual.name)}(1)`]),
  ]);
}

function pageOf(manual: Manual, name: string, lines: readonly string[]): string {
  return `${[titleLine(name, `${manual.name} ${manual.version}`, manual.name), ...lines].join("\n")}\n`;
}

function flagTitle(name: string, flag: Flag): string {
  const letter = flag.short === undefined ? "" : `${bold(`-${flag.short}`)}, `;
  const value = valueOf(flag).trimStart();
  return `${letter}${bold(`--${name}`)}${value === "" ? "" : ` ${italic(value)}`}`;
}

function flagText(flag: Flag): string {
  return [flag.summary, ...factsOf(flag).map((fact) => `${fact.charAt(0).toUpperCase()}${fact.slice(1)}`)]
    .map((sentence) => `${sentence}.`)
    .join(" ");
}

function exitLines(): readonly string[] {
  return [
    ...term(bold("0"), "The command did what it was asked to."),
    ...term(bold("1"), "It could not do its part."),
    ...term(bold("2"), "The arguments or the input are wrong; the message says where."),
    ...term("Other codes", "A command that runs a job ends with the exit code of the step that failed."),
  ];
}
