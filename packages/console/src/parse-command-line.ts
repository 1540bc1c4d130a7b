import { parseArgs } from "node:util";
import { nearest } from "@steps/model";
import { type Command, type CommandLine, type Flag, UsageError } from "./command.ts";
import { programName } from "./terminal.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads arguments by a command's table: flags over environment over defaults. @throws {UsageError} */
export function parseCommandLine(command: Command, given: readonly string[], env: Environment): CommandLine {
  const args = command.takesCommand === true ? [...splitCommand(command, given)] : given;
  const { values, positionals } = parse(command, args);
  checkPositionals(command, positionals);
  const texts = (name: string): readonly string[] => {
    const flag = command.flags[name];
    // A command without the flag is one with its default.
    if (flag === undefined) return [];
    const given = values[name];
    if (given !== undefined) return (Array.isArray(given) ? given : [given]).map(String);
    const inherited = (flag.env === undefined ? undefined : env[flag.env]) || undefined;
    if (inherited !== undefined) return flag.type === "list" ? splitVariable(inherited, flag) : [inherited];
    return flag.default === undefined ? [] : [String(flag.default)];
  };
  const line: CommandLine = {
    positionals,
    string: (name) => texts(name).at(-1),
    boolean: (name) => readBoolean(name, texts(name).at(-1)),
    list: (name) => texts(name),
    pairs: (name) => readPairs(name, command.flags[name]?.type === "pairs" ? texts(name) : splitPairs(texts(name))),
    number: (name) => readNumber(name, texts(name).at(-1), command.flags[name]?.type === "duration"),
  };
  check(command, line);
  return line;
}

/** Puts `--` before the command of another program, so that its flags are not taken for ours. */
export function splitCommand(command: Command, args: readonly string[]): readonly string[] {
  let at = 0;
  while (at < args.length) {
    const arg = args[at] as string;
    if (arg === "--") return args;
    if (!arg.startsWith("-")) return [...args.slice(0, at), "--", ...args.slice(at)];
    const flag = command.flags[arg.replace(/^--/, "")];
    at += flag !== undefined && flag.type !== "boolean" ? 2 : 1;
  }
  return args;
}

function parse(command: Command, args: readonly string[]): { values: Record<string, unknown>; positionals: string[] } {
  if (args.length === 0) return { values: {}, positionals: [] };
  const options = Object.fromEntries(
    Object.entries(command.flags).map(([name, flag]) => [
      name,
      {
        type: flag.type === "boolean" ? ("boolean" as const) : ("string" as const),
        multiple: ["list", "pairs", "comma-pairs"].includes(flag.type),
      },
    ]),
  );
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, strict: true, allowNegative: true });
  } catch (error) {
    throw explain(command, error as Error & { code?: string });
  }
}

function explain(command: Command, error: Error & { code?: string }): UsageError {
  const help = `${programName()} ${command.name} --help lists the flags.`;
  const unknown = /Unknown option '(-[^']*)'/.exec(error.message)?.[1];
  if (unknown === undefined) return new UsageError(error.message.split(/\. |\n/)[0] as string, help);
  const near = similarFlag(unknown.replace(/^-+/, ""), Object.keys(command.flags));
  return new UsageError(`Unknown flag: "${unknown}"`, near === undefined ? help : `Did you mean --${near}?`);
}

/** A flag that was misspelt, or of which only the beginning was written. */
function similarFlag(name: string, flags: readonly string[]): string | undefined {
  const begun = flags.filter((flag) => flag.startsWith(`${name}-`));
  return nearest(name, flags) ?? (begun.length === 1 ? begun[0] : undefined);
}

function checkPositionals(command: Command, positionals: readonly string[]): void {
  const { min, max } = command.positionals;
  const usage = `Usage: ${programName()} ${command.name} ${command.usage}`;
  if (positionals.length < min)
    throw new UsageError(`"${command.name}" needs ${min === 1 ? "an argument" : `${min} arguments`}`, usage);
  if (positionals.length > max) throw new UsageError(`Unexpected argument: "${positionals[max]}"`, usage);
}

// Every value is read once, so that a wrong one is refused before anything runs.
function check(command: Command, line: CommandLine): void {
  for (const [name, flag] of Object.entries(command.flags)) {
    if (flag.type === "boolean") line.boolean(name);
    else if (flag.type === "pairs" || flag.type === "comma-pairs") line.pairs(name);
    else if (flag.type === "number" || flag.type === "duration") line.number(name);
    const value = line.string(name);
    if (flag.choices !== undefined && value !== undefined && !flag.choices.includes(value)) {
      throw new UsageError(`--${name} is "${value}"`, `It takes ${flag.choices.join(", ")}.`);
    }
  }
}

function readBoolean(name: string, text: string | undefined): boolean {
  if (text === undefined) return false;
  if (/^(?:1|true|yes|on)$/i.test(text)) return true;
  if (/^(?:0|false|no|off)$/i.test(text)) return false;
  throw new UsageError(`--${name} is "${text}"`, "It takes true or false.");
}

function splitVariable(text: string, { separator = /\s+/ }: Flag): readonly string[] {
  return text
    .split(separator)
    .map((value) => value.trim())
    .filter((value) => value !== "");
}

/** The names and values of `name=value` texts; a value may hold anything. @throws {UsageError} */
export function readPairs(name: string, texts: readonly string[]): Record<string, string> {
  const pairs = Object.create(null) as Record<string, string>;
  for (const part of texts) {
    const split = part.indexOf("=");
    if (split < 1)
      throw new UsageError(`--${name} has a part that is not name=value: "${part}"`, `Write --${name} name=value.`);
    pairs[part.slice(0, split)] = part.slice(split + 1);
  }
  return pairs;
}

/** Splits `a=1,b=x,y` before each `,NAME=`; what stands in double quotes as a whole, `"a=1,b=2"`, is one pair. */
export function splitPairs(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => {
    const quoted = /^"(.*)"$/s.exec(text)?.[1];
    return quoted === undefined ? text.split(/,(?=[a-zA-Z_][a-zA-Z0-9_]*=)/) : [quoted];
  });
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, "": 1000, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

function readNumber(name: string, text: string | undefined, isDuration: boolean): number | undefined {
  if (text === undefined) return undefined;
  const match = /^(\d+(?:\.\d+)?)([a-z]*)$/i.exec(text.trim());
  const unit = isDuration ? UNITS[match?.[2] ?? ""] : match?.[2] === "" ? 1 : undefined;
  if (match === null || unit === undefined) {
    throw new UsageError(
      `--${name} is "${text}"`,
      isDuration ? "It takes a duration such as 30s or 5m." : "It takes a number.",
    );
  }
  return Number(match[1]) * unit;
}
