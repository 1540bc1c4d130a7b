const UNITS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  µs: 1e-3,
  ns: 1e-6,
};

/**
 * Reads a time as the runner's own variables have it: `1h30m`, `90s`, `500ms`. Gives milliseconds; `undefined` for no text, one
 * that is no time, and a time that is not positive, which the runner passes over.
 */
export function readGoDuration(text: string | undefined): number | undefined {
  if (text === undefined || text.length > 100 || !/^\+?(?:\d+(?:\.\d*)?(?:h|ms|m|s|us|µs|ns))+$/.test(text))
    return undefined;
  let total = 0;
  for (const [, count = "", unit = ""] of text.matchAll(/(\d+(?:\.\d*)?)(h|ms|m|s|us|µs|ns)/g)) {
    total += Number(count) * (UNITS[unit] ?? 0);
  }
  const rounded = Math.round(total);
  return rounded > 0 ? rounded : undefined;
}
