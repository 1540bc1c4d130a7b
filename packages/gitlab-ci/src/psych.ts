import type { YamlScalar } from "@steps/source";

/** The kind that GitLab's YAML reader gives to a scalar, and the text that it makes of it where a text is wanted. */
export interface PsychScalar {
  readonly kind: "string" | "null" | "boolean" | "integer" | "float" | "date";
  readonly text: string;
}

const INTEGER = /^[-+]?(?:0b[01_,]+|0[0-7_,]+|0|[1-9](?:[0-9]|[,_][0-9])*|0x[0-9a-fA-F_,]+)$/;
const FLOAT = /^[-+]?(?:[0-9][0-9_,]*)?\.[0-9]*(?:[eE][-+][0-9]+)?$/;
const SEXAGESIMAL = /^([-+]?[0-9][0-9_]*):([0-5]?[0-9])(?::([0-5]?[0-9]))?$/;
const DATE =
  /^-?\d{4}-\d{1,2}-\d{1,2}(?:(?:[Tt]|\s+)\d{1,2}:\d\d:\d\d(?:\.\d*)?(?:\s*(?:Z|[-+]\d{1,2}:?(?:\d\d)?))?)?$/;

/** Longest plain scalar that can be anything but a string. */
const MAX_TOKEN_LENGTH = 200;

/**
 * Reads a scalar as Ruby's Psych does (YAML 1.1 with its own additions), since that is what GitLab reads files with:
 * `yes` is `true`, `010` is `8`, `1_000` is `1000`, `1.10` is `1.1` and `22:30` is `81000`.
 */
export function readPsychScalar({ style, text, value }: YamlScalar): PsychScalar {
  // A plain number that is a string has the tag `!!str`.
  if (style !== "plain" || (typeof value === "string" && /^[-+]?[0-9]+$/.test(text))) return string(text);
  if (text.length > MAX_TOKEN_LENGTH) return string(text);
  if (text === "" || text === "~" || /^null$/i.test(text)) return { kind: "null", text: "" };
  if (/^(?:yes|true|on)$/i.test(text)) return { kind: "boolean", text: "true" };
  if (/^(?:no|false|off)$/i.test(text)) return { kind: "boolean", text: "false" };
  if (DATE.test(text)) return { kind: "date", text };
  // A symbol, which is shown without its colon.
  if (/^:[^\s]/.test(text)) return string(text.slice(1).replaceAll(/^["']|["']$/g, ""));
  return readNumber(text);
}

function readNumber(text: string): PsychScalar {
  const parts = SEXAGESIMAL.exec(text);
  if (parts) {
    const [hours, minutes, seconds] = [parts[1], parts[2], parts[3] ?? "0"].map((part) => Number(bare(part ?? "0")));
    return { kind: "integer", text: String((hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0)) };
  }
  if (FLOAT.test(text) && !/^[-+]?\.$/.test(text)) return { kind: "float", text: formatFloat(Number(bare(text))) };
  if (/^[-+]?\.inf$/i.test(text)) return { kind: "float", text: text.startsWith("-") ? "-Infinity" : "Infinity" };
  if (/^\.nan$/i.test(text)) return { kind: "float", text: "NaN" };
  return INTEGER.test(text) ? { kind: "integer", text: formatInteger(bare(text)) } : string(text);
}

function string(text: string): PsychScalar {
  return { kind: "string", text };
}

function bare(text: string): string {
  return text.replaceAll(/[_,]/g, "");
}

function formatInteger(text: string): string {
  const sign = text.startsWith("-") ? "-" : "";
  const digits = text.replace(/^[-+]/, "");
  const octal = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits;
  if (/^0[bx]?$/.test(octal)) return "0";
  const value = BigInt(octal);
  return value === 0n ? "0" : `${sign}${value}`;
}

// Ruby's Float#to_s: always with a point, with an exponent outside of 1e-4 to 1e16.
function formatFloat(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) {
    const [mantissa = "0", exponent = "+0"] = value.toExponential().split("e");
    const digits = exponent.slice(1).padStart(2, "0");
    return `${mantissa.includes(".") ? mantissa : `${mantissa}.0`}e${exponent.slice(0, 1)}${digits}`;
  }
  const sign = Object.is(value, -0) ? "-" : "";
  return Number.isInteger(value) ? `${sign}${value}.0` : String(value);
}
