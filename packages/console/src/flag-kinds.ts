// The kinds of flags. A command imports them as `flag` and writes `flag.text({ … })`.
import { resolve } from "node:path";
import { converted, type Flag, type FlagNotes } from "./flag.ts";
import { readBoolean, readDuration, readInteger, readNumber, readPairs, splitPairs } from "./read-flag-value.ts";
import { readSecrets } from "./read-secrets.ts";
import { UsageError } from "./usage-error.ts";

/** A value that is there if it has a default. */
type Given<D, T> = D extends undefined ? T | undefined : T;

/** A switch. `--no-NAME` turns it off; its variable takes true, false, 1, 0, yes, no, on and off. */
export function boolean(notes: FlagNotes & { readonly default?: true }): Flag<boolean> {
  return { type: "boolean", ...notes, read: (texts, name) => readBoolean(name, texts.at(-1)) };
}

/** One text. */
export function text<D extends string | undefined = undefined>(
  notes: FlagNotes & { readonly default?: D },
): Flag<Given<D, string>> {
  return { type: "text", ...notes, read: (texts) => texts.at(-1) as Given<D, string> };
}

/** The path of a file or folder, made absolute. For one that is shown as it was typed, take `text()`. */
export function path(notes: FlagNotes): Flag<string | undefined> {
  return {
    type: "path",
    ...notes,
    read: (texts) => {
      const given = texts.at(-1);
      return given === undefined ? undefined : resolve(given);
    },
  };
}

/** One of a closed set of texts. */
export function choice<const C extends string, D extends C | undefined = undefined>(
  choices: readonly C[],
  notes: FlagNotes & { readonly default?: D },
): Flag<Given<D, C>> {
  return {
    type: "choice",
    ...notes,
    choices,
    read: (texts, name) => {
      const given = texts.at(-1);
      const known = choices.find((one) => one === given);
      if (given !== undefined && known === undefined)
        throw new UsageError(`--${name} is "${given}"`, `It takes ${choices.join(", ")}.`);
      return known as Given<D, C>;
    },
  };
}

/** Texts, one for each time that the flag is given; each is taken literally, with its commas and blanks. */
export function list(notes: FlagNotes & Pick<Flag, "separator">): Flag<readonly string[]> {
  return { type: "list", ...notes, read: (texts) => texts };
}

/** `NAME=VALUE`, one for each time that the flag is given; the value is taken literally. */
export function pairs(notes: FlagNotes): Flag<Readonly<Record<string, string>>> {
  return { type: "pairs", ...notes, read: (texts, name) => readPairs(name, texts) };
}

/** Several `NAME=VALUE` in one value, as GitLab's step runner takes them. */
export function commaPairs(notes: FlagNotes): Flag<Readonly<Record<string, string>>> {
  return { type: "comma-pairs", ...notes, read: (texts, name) => readPairs(name, splitPairs(texts)) };
}

/** Secrets by name, `NAME=VALUE`, where VALUE may be `env:X` or `file:P`. */
export function secrets(notes: FlagNotes): Flag<Readonly<Record<string, string>>> {
  return converted(list({ placeholder: "NAME=VALUE", ...notes }), readSecrets);
}

/** A whole number, not negative unless `min` is. */
export function integer<D extends string | undefined = undefined>({
  min,
  max,
  ...notes
}: FlagNotes & { readonly default?: D; readonly min?: number; readonly max?: number }): Flag<Given<D, number>> {
  return {
    type: "integer",
    ...notes,
    read: (texts, name) => {
      const given = texts.at(-1);
      if (given === undefined) return undefined as Given<D, number>;
      return readInteger(name, given, { min, max });
    },
  };
}

const MIB = 1_048_576;

/** A number of MiB; the option is in bytes. */
export function size<D extends string | undefined = undefined>(
  notes: FlagNotes & { readonly default?: D },
): Flag<Given<D, number>> {
  return {
    type: "size",
    placeholder: "MIB",
    ...notes,
    read: (texts, name) => {
      const given = texts.at(-1);
      if (given === undefined) return undefined as Given<D, number>;
      return readNumber(name, given) * MIB;
    },
  };
}

/**
 * A time such as `500ms`, `30s`, `5m`, `2h`, `7d`, where a bare number is seconds; the option is in milliseconds.
 *
 * @param notes with `isPositive` for a limit that would be over at once if it were zero, so that zero is refused
 */
export function duration<D extends string | undefined = undefined>({
  isPositive = false,
  ...notes
}: FlagNotes & { readonly default?: D; readonly isPositive?: boolean }): Flag<Given<D, number>> {
  return {
    type: "duration",
    ...notes,
    read: (texts, name) => {
      const given = texts.at(-1);
      return (
        given === undefined
          ? undefined
          : readDuration(name, given, { isPositive, hasDefault: notes.default !== undefined })
      ) as Given<D, number>;
    },
  };
}
