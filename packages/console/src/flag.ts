/** The kinds of flags, by what `--help` and the reference say of them. */
type FlagType =
  | "boolean"
  | "text"
  | "path"
  | "choice"
  | "list"
  | "pairs"
  | "comma-pairs"
  | "integer"
  | "size"
  | "duration";

/** The words and names of a flag, whatever its kind. */
export interface FlagNotes {
  /** A sentence without a final period. */
  readonly summary: string;
  /** The environment variable that stands in for it. Default: none. */
  readonly env?: string;
  /** The placeholder for the value in `--help`. Default: one for the kind. */
  readonly placeholder?: string;
  /** A letter that stands for it after one dash: `o` for `-o`. Default: none. */
  readonly short?: string;
  /** The heading under which `--help` shows it. Default: none; such flags stand before all headings. */
  readonly group?: string;
  /** Names that other commands have for it: who types one of them is told this one. Default: none. */
  readonly otherNames?: readonly string[];
}

/** A flag of a command: the one place that parsing, the environment and `--help` read. `T` is the type of its option. */
export interface Flag<T = unknown> extends FlagNotes {
  readonly type: FlagType;
  /** The value of a flag that neither the arguments nor the environment hold, as it would be typed. Default: none. */
  readonly default?: string | boolean;
  /** The only texts that it takes. Default: any. */
  readonly choices?: readonly string[];
  /** The separator of a list's values in its environment variable. Default: white space. */
  readonly separator?: RegExp;
  /** Turns the texts that were given, the last one last, into the option. @throws {UsageError} */
  readonly read: (texts: readonly string[], name: string) => T;
}

/** Flags by their names, as they are typed after the two dashes. */
export type Flags = Readonly<Record<string, Flag>>;

type CamelCase<Name extends string> = Name extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** The options that a table of flags gives: `outputFile` for `--output-file`. */
export type OptionsOf<F extends Flags> = {
  readonly [Name in keyof F & string as CamelCase<Name>]: F[Name] extends Flag<infer T> ? T : never;
};

/** The same flags under a heading of `--help`. */
export function grouped<F extends Flags>(group: string, flags: F): F {
  return Object.fromEntries(Object.entries(flags).map(([name, flag]) => [name, { ...flag, group }])) as F;
}

/** The same flag with another value, which is made as soon as the arguments are read. `read` throws `UsageError`. */
export function converted<T, U>(flag: Flag<T>, read: (value: T, name: string) => U): Flag<U> {
  return { ...flag, read: (texts, name) => read(flag.read(texts, name), name) };
}
