const SECONDS: Readonly<Record<string, number>> = {
  s: 1,
  sec: 1,
  second: 1,
  m: 60,
  min: 60,
  minute: 60,
  h: 3600,
  hr: 3600,
  hour: 3600,
  d: 86_400,
  day: 86_400,
  w: 604_800,
  wk: 604_800,
  week: 604_800,
  mo: 2_592_000,
  mos: 2_592_000,
  month: 2_592_000,
  y: 31_536_000,
  yr: 31_536_000,
  year: 31_536_000,
};

const PART = /(\d+(?:\.\d+)?)\s*([a-z]*)/g;
const MAX_SECONDS = 100 * 31_536_000;

/**
 * Reads `expire_in` in GitLab's words, such as `1 week`, `3 mins 4 sec`, `2h20min`, `47 yrs` or `42` for seconds. Gives seconds,
 * `null` for `never`, undefined for a text that says no time.
 */
export function parseExpiry(text: string): number | null | undefined {
  const plain = text.trim().toLowerCase();
  if (plain === "never") return null;
  if (plain.length > 100 || plain.replace(PART, "").replace(/[\s,]|and/g, "") !== "") return undefined;
  let seconds = 0;
  let parts = 0;
  for (const [, count = "", unit = ""] of plain.matchAll(PART)) {
    const size = unit === "" ? 1 : (SECONDS[unit] ?? SECONDS[unit.replace(/s$/, "")]);
    if (size === undefined) return undefined;
    seconds += Number(count) * size;
    parts++;
  }
  return parts === 0 || seconds > MAX_SECONDS ? undefined : Math.floor(seconds);
}
