import { nearest } from "@steps/model/diagnostic";
import { COMMAND_EXITS } from "@steps/model/exit-codes";
import type { Command } from "./command.ts";
import { describeFailure, type FailureRules } from "./failure.ts";
import { formatHelp, formatOverview } from "./help.ts";
import { parseWithSettings, splitCommand } from "./parse-command-line.ts";
import { complain, errors, nameProgram, print, terminalOf } from "./terminal.ts";
import { UsageError } from "./usage-error.ts";

/** A program of several commands. A command is loaded when it is called; groups have the names of their members after a blank. */
export interface Program extends FailureRules {
  readonly name: string;
  /** The purpose of the program: a sentence without its final period. */
  readonly summary: string;
  readonly commands: Readonly<Record<string, () => Promise<Command>>>;
  /** The headings of the overview with the names of their commands. Default: one heading for all. */
  readonly headings?: Readonly<Record<string, readonly string[]>>;
}

const HELP = new Set(["--help", "-h", "help"]);

/** Runs the command that the arguments name and gives its exit code; 2 for arguments that make no sense. */
export async function runProgram(program: Program, args: readonly string[]): Promise<number> {
  nameProgram(program.name);
  const { name, rest } = nameOf(program, args);
  const load = Object.hasOwn(program.commands, name) ? program.commands[name] : undefined;
  try {
    if (load === undefined) return await withoutCommand(program, name, rest);
    const command = await load();
    if (wantsHelp(command, rest)) {
      await print(formatHelp(program.name, command, terminalOf(1)));
      return 0;
    }
    const { options, positionals } = await parseWithSettings(command, rest, process.env);
    return await command.run(options, positionals);
  } catch (error) {
    return describeFailure(error, name, program);
  }
}

function wantsHelp(command: Command, rest: readonly string[]): boolean {
  const args = command.takesCommand === true ? splitCommand(command, rest) : rest;
  const end = args.indexOf("--");
  return (end === -1 ? args : args.slice(0, end)).some((arg) => arg === "--help" || arg === "-h");
}

function nameOf(program: Program, args: readonly string[]): { name: string; rest: readonly string[] } {
  const shifted = HELP.has(args[0] ?? "") && args.length > 1 ? [...args.slice(1), "--help"] : args;
  const [first = "", second = ""] = shifted;
  if (Object.hasOwn(program.commands, `${first} ${second}`))
    return { name: `${first} ${second}`, rest: shifted.slice(2) };
  return { name: first, rest: shifted.slice(1) };
}

async function withoutCommand(program: Program, name: string, rest: readonly string[]): Promise<number> {
  const members = Object.keys(program.commands).filter((known) => known.startsWith(`${name} `));
  if (name === "" || HELP.has(name)) {
    const text = await overview(program, Object.keys(program.commands));
    if (HELP.has(name)) await print(text);
    else await errors.write(Buffer.from(text));
    return HELP.has(name) ? 0 : COMMAND_EXITS.input.code;
  }
  if (members.length > 0 && rest.some((arg) => HELP.has(arg))) {
    await print(await overview(program, members, { withHidden: true }));
    return 0;
  }
  if (members.length > 0 && rest[0] === undefined) {
    await errors.write(Buffer.from(await overview(program, members, { withHidden: true })));
    return COMMAND_EXITS.input.code;
  }
  if (members.length > 0) {
    const near = nearest(`${name} ${rest[0]}`, members);
    const hint =
      near === undefined
        ? `Write ${members.map((member) => `${program.name} ${member}`).join(" or ")}.`
        : `Did you mean ${program.name} ${near}?`;
    throw new UsageError(`Unknown command: "${name} ${rest[0]}"`, hint);
  }
  const near = nearest(name, Object.keys(program.commands));
  complain(
    `Unknown command: "${name}"`,
    near === undefined ? `${program.name} --help lists the commands.` : `Did you mean ${program.name} ${near}?`,
  );
  return COMMAND_EXITS.input.code;
}

async function overview(
  program: Program,
  names: readonly string[],
  options: { readonly withHidden?: boolean } = {},
): Promise<string> {
  const commands = await Promise.all(names.map((name) => (program.commands[name] as () => Promise<Command>)()));
  const shown = commands.filter((command) => options.withHidden === true || command.isHidden !== true);
  return formatOverview(program, shown, terminalOf(1));
}
