interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** For the numbers from `min` on. */
  readonly names?: readonly string[];
}

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const DAYS = "sun mon tue wed thu fri sat".split(" ");

const FIELDS: readonly Field[] = [
  { name: "minute", min: 0, max: 59 },
  { name: "hour", min: 0, max: 23 },
  { name: "day of the month", min: 1, max: 31 },
  { name: "month", min: 1, max: 12, names: MONTHS },
  { name: "day of the week", min: 0, max: 7, names: DAYS },
];

/** Returns the problem with the time of a `schedule`, in POSIX's form with steps and names, or `undefined`. */
export function cronProblem(text: string): string | undefined {
  const parts = text.trim() === "" ? [] : text.trim().split(/\s+/);
  if (parts.length !== FIELDS.length) return `it has ${parts.length} fields`;
  for (const [index, field] of FIELDS.entries()) {
    const wrong = (parts[index] ?? "").split(",").find((part) => !isPart(part, field));
    if (wrong !== undefined) return `"${wrong.slice(0, 40)}" is no ${field.name} from ${field.min} to ${field.max}`;
  }
  return undefined;
}

function isPart(part: string, field: Field): boolean {
  const [range = "", step, ...rest] = part.split("/");
  if (rest.length > 0 || (step !== undefined && !(/^\d{1,3}$/.test(step) && Number(step) > 0))) return false;
  if (range === "*" || range === "?") return true;
  const [first = "", last, ...more] = range.split("-");
  if (more.length > 0) return false;
  const from = numberOf(first, field);
  const to = last === undefined ? from : numberOf(last, field);
  return from !== undefined && to !== undefined && from <= to;
}

function numberOf(text: string, { min, max, names = [] }: Field): number | undefined {
  const named = names.indexOf(text.toLowerCase());
  if (named !== -1) return min + named;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}
