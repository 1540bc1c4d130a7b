import type { Command } from "../command.ts";
import type { Flag } from "../flag.ts";
import type { Program } from "../run-program.ts";

/** The values that a shell offers: files, folders, these words, or nothing. */
export type Values = "files" | "folders" | "nothing" | readonly string[];

/** A flag as a shell completes it. */
export interface CompletedFlag {
  readonly name: string;
  readonly short: string | undefined;
  readonly summary: string;
  /** The name of its value. `undefined`: it takes none. */
  readonly placeholder: string | undefined;
  readonly values: Values;
  readonly isRepeated: boolean;
}

/** A command as a shell completes it; the name of one in a group has a blank. */
export interface CompletedCommand {
  readonly name: string;
  readonly summary: string;
  readonly isHidden: boolean;
  readonly flags: readonly CompletedFlag[];
  readonly argument: Values;
  /** The arguments that make the program list further words for the argument. `undefined`: there are none. */
  readonly listedBy: string | undefined;
}

/** All that a completion script is made of. */
export interface CompletedProgram {
  readonly name: string;
  /** A name for functions of shells: letters, digits and underscores. */
  readonly identifier: string;
  readonly commands: readonly CompletedCommand[];
  /** The first words of commands that have two. */
  readonly groups: readonly string[];
}

/** Reads the tables of all commands of a program. */
export async function completedProgram(program: Program): Promise<CompletedProgram> {
  const commands = await Promise.all(Object.values(program.commands).map((load) => load()));
  const groups = commands.flatMap(({ name }) => (name.includes(" ") ? [name.split(" ")[0] as string] : []));
  return {
    name: program.name,
    identifier: program.name.replaceAll(/\W/g, "_"),
    commands: commands.map(completedCommand),
    groups: [...new Set(groups)],
  };
}

/** The words that may follow the program: commands and groups that are shown, each with its summary. */
export function firstWords({ commands, groups }: CompletedProgram): readonly (readonly [string, string])[] {
  const shown = commands.filter(({ isHidden }) => !isHidden);
  const single = shown.filter(({ name }) => !name.includes(" "));
  const grouped = groups.map((group) => [group, membersOf(shown, group).map(([name]) => name)] as const);
  return [
    ...single.map(({ name, summary }) => [name, summary] as const),
    ...grouped.filter(([, names]) => names.length > 0).map(([group, names]) => [group, names.join(", ")] as const),
  ];
}

/** Whether an argument of any command is listed by the program itself. */
export function hasListed({ commands }: CompletedProgram): boolean {
  return commands.some(({ listedBy }) => listedBy !== undefined);
}

/** The second words of the commands in a group, each with its summary. */
export function membersOf(
  commands: readonly CompletedCommand[],
  group: string,
): readonly (readonly [string, string])[] {
  return commands
    .filter(({ name }) => name.startsWith(`${group} `))
    .map(({ name, summary }) => [name.slice(group.length + 1), summary]);
}

function completedCommand({ name, summary, isHidden, flags, positionals }: Command): CompletedCommand {
  return {
    name,
    summary,
    isHidden: isHidden === true,
    flags: Object.entries(flags).map(([flagName, flag]) => completedFlag(flagName, flag)),
    argument: positionals.choices ?? (positionals.max === 0 ? "nothing" : "files"),
    listedBy: positionals.listedBy,
  };
}

function completedFlag(name: string, flag: Flag): CompletedFlag {
  return {
    name,
    short: flag.short,
    // A menu has one line for each.
    summary: flag.summary.split(/[;:] /)[0] as string,
    placeholder: flag.type === "boolean" ? undefined : (flag.placeholder ?? "VALUE"),
    values: flag.choices ?? pathsOf(flag),
    isRepeated: ["list", "pairs", "comma-pairs"].includes(flag.type),
  };
}

function pathsOf({ type, placeholder = "" }: Flag): Values {
  if (/^DIR(?:ECTORY)?$/.test(placeholder)) return "folders";
  return type === "path" || /^(?:FILE|PATH)$/.test(placeholder) ? "files" : "nothing";
}
