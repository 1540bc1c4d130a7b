/** What a flag takes. `pairs` is `name=value`, several with commas or by repeating the flag. */
export type FlagType = "boolean" | "string" | "list" | "pairs" | "number" | "duration";

/** A flag of a command: the one place that parsing, the environment and `--help` read. */
export interface Flag {
  readonly type: FlagType;
  /** A sentence without a final period. */
  readonly summary: string;
  /** The environment variable that stands in for it. */
  readonly env?: string;
  /** What stands for the value in `--help`. */
  readonly placeholder?: string;
  readonly default?: string | boolean;
  readonly choices?: readonly string[];
}

export type Flags = Readonly<Record<string, Flag>>;

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
  /** What follows the name: `REF [flags]`. */
  readonly usage: string;
  /** Paragraphs of `--help`. */
  readonly description?: readonly string[];
  readonly flags: Flags;
  /** How many positional arguments are taken. */
  readonly positionals: { readonly min: number; readonly max: number };
  /** What follows the first positional belongs to another program: its flags are positionals here. */
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
