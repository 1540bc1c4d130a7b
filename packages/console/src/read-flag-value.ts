import { UsageError } from "./usage-error.ts";

/** The state of a switch; one that is not given is off. @throws {UsageError} */
export function readBoolean(name: string, given: string | undefined): boolean {
  if (given === undefined) return false;
  if (/^(?:1|true|yes|on)$/i.test(given)) return true;
  if (/^(?:0|false|no|off)$/i.test(given)) return false;
  throw new UsageError(`--${name} is "${given}"`, "It takes true or false.");
}

/** The names and values of `name=value` texts; a value may hold anything. @throws {UsageError} */
export function readPairs(name: string, texts: readonly string[]): Record<string, string> {
  const found = Object.create(null) as Record<string, string>;
  for (const part of texts) {
    const split = part.indexOf("=");
    if (split < 1)
      throw new UsageError(`--${name} has a part that is not name=value: "${part}"`, `Write --${name} name=value.`);
    found[part.slice(0, split)] = part.slice(split + 1);
  }
  return found;
}

/** Splits `a=1,b=x,y` before each `,NAME=`; a text that is in double quotes as a whole, `"a=1,b=2"`, is one pair. */
export function splitPairs(texts: readonly string[]): readonly string[] {
  return texts.flatMap((given) => {
    const quoted = /^"(.*)"$/s.exec(given)?.[1];
    return quoted === undefined ? given.split(/,(?=[a-zA-Z_][a-zA-Z0-9_]*=)/) : [quoted];
  });
}

/** A number that is not negative, with decimals. @throws {UsageError} */
export function readNumber(name: string, given: string): number {
  if (/^\d+(?:\.\d+)?$/.test(given.trim())) return Number(given);
  throw new UsageError(`--${name} is "${given}"`, "It takes a number.");
}

/** A whole number within these bounds, both included. @throws {UsageError} */
export function readInteger(
  name: string,
  given: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: { readonly min?: number; readonly max?: number },
): number {
  const number = /^-?\d+$/.test(given.trim()) ? Number(given) : Number.NaN;
  if (number >= min && number <= max) return number;
  const range = max === Number.MAX_SAFE_INTEGER ? `a whole number from ${min}` : `a number from ${min} to ${max}`;
  throw new UsageError(`--${name} is "${given}"`, `It takes ${range}.`);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, "": 1000, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The milliseconds of a time with its unit; without one it is in seconds. @throws {UsageError} */
export function readDuration(
  name: string,
  given: string,
  { isPositive, hasDefault }: { readonly isPositive: boolean; readonly hasDefault: boolean },
): number {
  const match = /^(\d+(?:\.\d+)?)([a-z]*)$/i.exec(given.trim());
  const unit = UNITS[match?.[2] ?? ""];
  if (match === null || unit === undefined)
    throw new UsageError(`--${name} is "${given}"`, "It takes a duration such as 30s or 5m.");
  const time = Number(match[1]) * unit;
  if (time === 0 && isPositive)
    throw new UsageError(
      `--${name} is "${given}"`,
      `It takes a time above zero.${hasDefault ? "" : " Leave the flag out for no limit."}`,
    );
  return time;
}
