// No branch of it can match the same digits in two ways: a text of a megabyte takes a millisecond.
const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const INFINITE = /^([+-]?)infinity$/i;
const UINT32 = 2 ** 32;
const INT32 = 2 ** 31;

/**
 * The number a text stands for, or NaN: decimal, `0x` and `0o` in lower case and of 32 bits in two's complement, the
 * empty text is 0.
 */
export function parseNumber(text: string): number {
  const trimmed = text.trim();
  if (trimmed === "") return 0;
  if (DECIMAL.test(trimmed)) return Number(trimmed);
  if (/^0x[0-9a-f]+$/i.test(trimmed) && trimmed[1] === "x") return toInt32(trimmed);
  if (/^0o[0-7]+$/.test(trimmed)) return toInt32(trimmed);
  const infinite = INFINITE.exec(trimmed);
  if (infinite === null) return Number.NaN;
  return infinite[1] === "-" ? -Infinity : Infinity;
}

function toInt32(text: string): number {
  const value = Number(text);
  if (value >= UINT32) return Number.NaN;
  return value >= INT32 ? value - UINT32 : value;
}

const DIGITS = 15;

/** A number as .NET's format `G15` writes it: 15 significant digits, `1E+15` and `1E-05` beyond; never `-0`. */
export function formatG15(value: number): string {
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return String(value);
  const [mantissa = "", power = "0"] = Math.abs(value)
    .toExponential(DIGITS - 1)
    .split("e");
  const digits = mantissa.replace(".", "").replace(/0+$/, "");
  const exponent = Number(power);
  const sign = value < 0 ? "-" : "";
  if (exponent >= DIGITS || exponent < -4) return sign + scientific(digits, exponent);
  return sign + fixed(digits, exponent);
}

function scientific(digits: string, exponent: number): string {
  const rest = digits.length > 1 ? `.${digits.slice(1)}` : "";
  const power = String(Math.abs(exponent)).padStart(2, "0");
  return `${digits.slice(0, 1)}${rest}E${exponent < 0 ? "-" : "+"}${power}`;
}

function fixed(digits: string, exponent: number): string {
  if (exponent < 0) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const rest = digits.slice(exponent + 1);
  return rest === "" ? whole : `${whole}.${rest}`;
}
