import { nearest } from "@steps/model/diagnostic";
import type { Command } from "./command.ts";
import type { Flag, Flags, OptionsOf } from "./flag.ts";
import { programName } from "./terminal.ts";
import { UsageError } from "./usage-error.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The arguments of a call: the options that the flags give, and the rest. */
export interface CommandLine<F extends Flags = Flags> {
  readonly options: OptionsOf<F>;
  readonly positionals: readonly string[];
}

/**
 * Reads arguments by a command's table: flags over environment over defaults. Every flag is read, so that a wrong value
 * is refused before anything runs. @throws {UsageError}
 */
export function parseCommandLine<F extends Flags>(
  command: Command<F>,
  given: readonly string[],
  env: Environment,
): CommandLine<F> {
  const { positionals, textsOf } = readArguments(command, given, env);
  return { options: optionsOf(command, (name) => textsOf(name) ?? []), positionals };
}

/** The same with the settings of the command between the environment and the defaults. @throws {UsageError} */
export async function parseWithSettings<F extends Flags>(
  command: Command<F>,
  given: readonly string[],
  env: Environment,
): Promise<CommandLine<F>> {
  const { positionals, textsOf } = readArguments(command, given, env);
  const value = (flag: string): string | undefined => textsOf(flag)?.at(-1);
  const settings = (await command.settings?.(command.flags, { positionals, value })) ?? {};
  return { options: optionsOf(command, (name) => textsOf(name) ?? settings[name] ?? []), positionals };
}

function optionsOf<F extends Flags>(command: Command<F>, textsOf: (name: string) => readonly string[]): OptionsOf<F> {
  const options = Object.entries(command.flags).map(([name, flag]) => {
    const texts = textsOf(name);
    const isDefault = texts.length === 0 && flag.default !== undefined;
    return [camelCase(name), flag.read(isDefault ? [String(flag.default)] : texts, name)];
  });
  return Object.fromEntries(options) as OptionsOf<F>;
}

interface Arguments {
  readonly positionals: readonly string[];
  /** The texts of a flag in the arguments or else in the environment; `undefined` if it is in neither. */
  readonly textsOf: (name: string) => readonly string[] | undefined;
}

function readArguments(command: Command, given: readonly string[], env: Environment): Arguments {
  const args = command.takesCommand === true ? [...splitCommand(command, given)] : given;
  const { values, positionals } = parse(command, args);
  checkPositionals(command, positionals);
  return {
    positionals,
    textsOf: (name) => {
      const value = values[name];
      if (value !== undefined) return (Array.isArray(value) ? value : [value]).map(String);
      const flag = command.flags[name];
      const inherited = (flag?.env === undefined ? undefined : env[flag.env]) || undefined;
      if (flag === undefined || inherited === undefined) return undefined;
      return flag.type === "list" ? splitVariable(inherited, flag) : [inherited];
    },
  };
}

function camelCase(name: string): string {
  return name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** Puts `--` before the command of another program, so that its flags are not taken for ours. */
export function splitCommand(command: Pick<Command, "flags">, args: readonly string[]): readonly string[] {
  let at = 0;
  while (at < args.length) {
    const arg = args[at] as string;
    if (arg === "--") return args;
    if (!arg.startsWith("-")) return [...args.slice(0, at), "--", ...args.slice(at)];
    const flag = findFlag(command.flags, arg);
    at += flag !== undefined && flag.type !== "boolean" ? 2 : 1;
  }
  return args;
}

/** The flag that an argument names, by its name or by its letter. */
function findFlag(flags: Flags, arg: string): Flag | undefined {
  if (arg.startsWith("--")) return flags[arg.slice(2)];
  return Object.values(flags).find(({ short }) => short !== undefined && arg === `-${short}`);
}

function parse(command: Command, args: readonly string[]): { values: Record<string, unknown>; positionals: string[] } {
  if (args.length === 0) return { values: {}, positionals: [] };
  const options = Object.fromEntries(
    Object.entries(command.flags).map(([name, flag]) => [
      name,
      {
        type: flag.type === "boolean" ? ("boolean" as const) : ("string" as const),
        multiple: ["list", "pairs", "comma-pairs"].includes(flag.type),
        ...(flag.short !== undefined && { short: flag.short }),
      },
    ]),
  );
  try {
    // A call without arguments needs nothing of it, and there it would be a twentieth of the time of a short job.
    const { parseArgs } = process.getBuiltinModule("node:util");
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true, allowNegative: true });
  } catch (error) {
    throw explain(command, error as Error & { code?: string });
  }
}

function explain(command: Command, error: Error & { code?: string }): UsageError {
  const help = `${programName()} ${command.name} --help lists the flags.`;
  const unknown = /Unknown option '(-[^']*)'/.exec(error.message)?.[1];
  if (unknown === undefined) return new UsageError(error.message.split(/\. |\n/)[0] as string, help);
  const near = similarFlag(unknown.replace(/^-+/, ""), command.flags);
  return new UsageError(`Unknown flag: "${unknown}"`, near === undefined ? help : `Did you mean --${near}?`);
}

/** A flag that has another name elsewhere, that was misspelt, or of which only the beginning was written. */
function similarFlag(name: string, flags: Flags): string | undefined {
  const names = Object.keys(flags);
  const begun = names.filter((flag) => flag.startsWith(`${name}-`));
  const same = names.find((flag) => flags[flag]?.otherNames?.includes(name));
  return same ?? nearest(name, names) ?? (begun.length === 1 ? begun[0] : undefined);
}

function checkPositionals(command: Command, positionals: readonly string[]): void {
  const { min, max } = command.positionals;
  const usage = `Usage: ${programName()} ${command.name} ${command.usage}`;
  if (positionals.length < min)
    throw new UsageError(`"${command.name}" needs ${min === 1 ? "an argument" : `${min} arguments`}`, usage);
  if (positionals.length > max) throw new UsageError(`Unexpected argument: "${positionals[max]}"`, usage);
}

function splitVariable(text: string, { separator = /\s+/ }: Flag): readonly string[] {
  return text
    .split(separator)
    .map((value) => value.trim())
    .filter((value) => value !== "");
}
