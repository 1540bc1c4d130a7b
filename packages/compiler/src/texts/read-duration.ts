import { describeNode, type YamlNode } from "@steps/source";
import type { CompileContext } from "../context.ts";

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const NUMBER = String.raw`\d{1,12}(?:\.\d{1,9})?`;
const UNIT = Object.keys(UNITS).join("|");
const PART = new RegExp(`(${NUMBER})(${UNIT})`, "y");
const SECONDS = new RegExp(`^${NUMBER}$`);

/** The form of a time that is written as a text; it may still be too long. */
export const DURATION_PATTERN: RegExp = new RegExp(String.raw`^\s*(?:${NUMBER}|(?:${NUMBER}(?:${UNIT}))+)\s*$`);

/** The longest time of Node's timers in milliseconds, about 24 days. */
export const MAX_DURATION_MS = 2_147_483_647;

/** Reads a time such as `30s`, `1h30m`, `500ms`, or a number of seconds. Gives milliseconds, and reports any other value. */
export function readDuration(
  context: CompileContext,
  node: YamlNode,
  { what, maxMs = MAX_DURATION_MS }: { readonly what: string; readonly maxMs?: number },
): number | undefined {
  const text = node.kind === "scalar" ? node.text.trim() : "";
  const ms = SECONDS.test(text) ? Number(text) * 1000 : parseParts(text);
  if (ms !== undefined && ms > 0 && ms <= maxMs) return Math.round(ms);
  const isTooLong = ms !== undefined && ms > maxMs;
  context.report.error(node, () => ({
    code: "invalid-duration",
    message: isTooLong ? `${what} is too long: ${text}` : `${what} must be a time, found ${describeNode(node)}`,
    hint: isTooLong ? `At most ${maxMs / 1000} seconds.` : "Write 30s, 5m, 1h30m or 500ms; a bare number is seconds.",
  }));
  return undefined;
}

function parseParts(text: string): number | undefined {
  let ms = 0;
  let at = 0;
  while (at < text.length) {
    PART.lastIndex = at;
    const match = PART.exec(text);
    if (match === null) return undefined;
    ms += Number(match[1]) * (UNITS[match[2] as string] as number);
    at = PART.lastIndex;
  }
  return at === 0 ? undefined : ms;
}
