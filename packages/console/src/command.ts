import type { Flags, OptionsOf } from "./flag.ts";

/** A command of a program: the one table that parsing, `--help` and the reference read. */
export interface Command<F extends Flags = Flags> {
  readonly name: string;
  /** A sentence without a final period. */
  readonly summary: string;
  /** The text after the command's name in the usage line: `REF [flags]`. */
  readonly usage: string;
  /** Paragraphs of `--help`. */
  readonly description?: readonly string[];
  readonly flags: F;
  /** How many positional arguments are taken. */
  readonly positionals: {
    readonly min: number;
    readonly max: number;
    /** The only texts that the first may be, for completion. Default: it names a file. */
    readonly choices?: readonly string[];
    /**
     * The arguments with which the program lists what an argument may be besides a file, for completion: each line begins with the
     * word, and two blanks before what it is. Lines without them are none of these. Default: it is a file.
     */
    readonly listedBy?: string;
  };
  /** Everything after the first positional belongs to another program, so its flags count as positionals here. */
  readonly takesCommand?: boolean;
  /** Left out of the overview: another spelling, or one that only programs call. */
  readonly isHidden?: boolean;
  /** Command lines with what they do. */
  readonly examples: readonly (readonly [command: string, does: string])[];
  /**
   * Gives the values of flags that neither the arguments nor the environment hold, such as those of a file; a flag that is not
   * among them has its default. Default: none. @throws {UsageError}
   */
  readonly settings?: (flags: Flags, call: SettingsCall) => Promise<Settings>;
  /** Does the work and gives the exit code. The options have the types that the flags say. */
  run(options: OptionsOf<F>, positionals: readonly string[]): Promise<number>;
}

/** The texts of flags by their names, as they would be typed one after the other. */
export type Settings = Readonly<Record<string, readonly string[]>>;

/** A call of a command before its flags are read. */
export interface SettingsCall {
  readonly positionals: readonly string[];
  /** The text of a flag in the arguments or in the environment, the last one that was given. `undefined`: it is not given. */
  readonly value: (flag: string) => string | undefined;
}

/** Gives the same command, with the options of `run` typed by its flags. */
export function defineCommand<F extends Flags>(command: Command<F>): Command<F> {
  return command;
}
