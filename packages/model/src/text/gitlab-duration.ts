const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  mo: 2_592_000_000,
  y: 31_536_000_000,
};

/** The words of GitLab's durations, and the unit that each stands for; a month has 30 days, a year 365. */
const WORDS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    s: ["s", "sec", "secs", "second", "seconds"],
    m: ["m", "min", "mins", "minute", "minutes"],
    h: ["h", "hr", "hrs", "hour", "hours"],
    d: ["d", "day", "days", "dy"],
    w: ["w", "wk", "wks", "week", "weeks"],
    mo: ["mo", "mos", "month", "months"],
    y: ["y", "yr", "yrs", "year", "years"],
  }).flatMap(([unit, words]) => words.map((word): [string, string] => [word, unit])),
);

const NUMBERS: readonly string[] = [
  "zero",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
  "eleven",
  "twelve",
];

/**
 * Reads a time as GitLab writes it ([timeout](https://docs.gitlab.com/ci/yaml/#timeout)): `3h 30m`, `60 minutes`, `one hour`,
 * `2 weeks and 3 days`, `1:30` for minutes and seconds; a number alone is seconds. Gives milliseconds, or `undefined` for
 * everything else.
 */
export function readDuration(text: string): number | undefined {
  const clock = /^\s*(?:(\d{1,4}):)?(\d{1,4}):(\d{2})\s*$/.exec(text);
  if (clock !== null) {
    const [, hours = "0", minutes = "0", seconds = "0"] = clock;
    return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000;
  }
  if (/^\s*\d{1,12}\s*$/.test(text)) return Number(text) * 1000;
  const words =
    text
      .slice(0, 200)
      .toLowerCase()
      .match(/\d{1,9}(?:\.\d{1,9})?|[a-z]+|[^\s,]/g) ?? [];
  let total = 0;
  let count: number | undefined;
  let isEmpty = true;
  for (const word of words) {
    if (word === "and" && count === undefined) continue;
    const unit = WORDS.get(word);
    if (unit !== undefined && count !== undefined) {
      total += count * (UNITS[unit] ?? 0);
      count = undefined;
      isEmpty = false;
      continue;
    }
    const number = NUMBERS.includes(word) ? NUMBERS.indexOf(word) : word === "a" || word === "an" ? 1 : Number(word);
    if (count !== undefined || Number.isNaN(number)) return undefined;
    count = number;
  }
  return isEmpty || count !== undefined ? undefined : Math.round(total);
}
