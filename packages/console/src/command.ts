/**
 * The type of a flag's value. A `list` is repeated for more values, and `pairs` for more `name=value`; each value is
 * taken literally, with its commas and blanks. `comma-pairs` takes several pairs in one value, as GitLab's step runner
 * does.
 */
export type FlagType = "boolean" | "string" | "list" | "pairs" | "comma-pairs" | "number" | "duration";

/** A flag of a command: the one place that parsing, the environment and `--help` read. */
export interface Flag {
  readonly type: FlagType;
  /** A sentence without a final period. */
  readonly summary: string;
  /** The environment variable that stands in for it. */
  readonly env?: string;
  /** The placeholder for the value in `--help`. */
  readonly placeholder?: string;
  readonly default?: string | boolean;
  readonly choices?: readonly string[];
  /** The separator of a list's values in its environment variable. Default: white space. */
  readonly separator?: RegExp;
  /** The heading under which `--help` shows it; what has none stands before all headings. */
  readonly group?: string;
}

export type Flags = Readonly<Record<string, Flag>>;

/** The same flags under a heading of `--help`. */
export function grouped(group: string, flags: Flags): Flags {
  return Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, { ...flag, group }]));
}

/** The arguments of a call, by the names of the command's flags. */
export interface CommandLine {
  readonly positionals: readonly string[];
  string(flag: string): string | undefined;
  boolean(flag: string): boolean;
  list(flag: string): readonly string[];
  pairs(flag: string): Readonly<Record<string, string>>;
  /** `duration` flags in milliseconds. */
  number(flag: string): number | undefined;
}

export interface Command {
  readonly name: string;
  /** A sentence without a final period. */
  readonly summary: string;
  /** The text after the command's name in the usage line: `REF [flags]`. */
  readonly usage: string;
  /** Paragraphs of `--help`. */
  readonly description?: readonly string[];
  readonly flags: Flags;
  /** How many positional arguments are taken. */
  readonly positionals: { readonly min: number; readonly max: number };
  /** Everything after the first positional belongs to another program, so its flags count as positionals here. */
  readonly takesCommand?: boolean;
  /** Left out of the overview: another spelling, or one that only programs call. */
  readonly isHidden?: boolean;
  /** Command lines with what they do. */
  readonly examples: readonly (readonly [command: string, does: string])[];
  run(line: CommandLine): Promise<number>;
}

/** The arguments make no sense: exit code 2. */
export class UsageError extends Error {
  readonly hint: string | undefined;

  constructor(message: string, hint?: string) {
    super(message);
    this.name = "UsageError";
    this.hint = hint;
  }
}
