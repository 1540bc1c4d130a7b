import type { Span } from "./span.ts";
import type { YamlNode, YamlScalar } from "./yaml-node.ts";

const ESCAPE_LENGTHS: Readonly<Record<string, number>> = { x: 4, u: 6, U: 10 };

/**
 * The place in the source of a part of a scalar's value. For a list of strings the value is their text joined by newlines.
 *
 * Folding, indentation and escapes change white space only, and escapes one by one; so the place of the n-th character
 * that is no white space is that of the n-th one in the source, whatever the style of the scalar.
 */
export function textPlace(node: YamlNode, offset: number, length: number): Span {
  if (node.kind === "list") {
    let before = 0;
    for (const item of node.items) {
      const size = item.kind === "scalar" ? item.text.length : 0;
      if (offset <= before + size) return textPlace(item, offset - before, Math.min(length, before + size - offset));
      before += size + 1;
    }
    return node;
  }
  if (node.kind !== "scalar" || node.isMade === true) return node;
  const units = visibleUnits(node);
  const first = countVisible(node.text, 0, offset);
  const count = countVisible(node.text, offset, offset + length);
  const start = units[first] ?? units.at(-1);
  if (start === undefined) return node;
  // Behind the last character, as for something that is missing at the end.
  if (first >= units.length) return { source: node.source, offset: start.end, length: 1 };
  const end = units[Math.min(first + Math.max(1, count), units.length) - 1] ?? start;
  return { source: node.source, offset: start.start, length: Math.max(1, end.end - start.start) };
}

interface Unit {
  readonly start: number;
  readonly end: number;
}

function isBlank(unit: string | undefined): boolean {
  return unit === " " || unit === "\n" || unit === "\t" || unit === "\r";
}

function countVisible(text: string, from: number, to: number): number {
  let count = 0;
  for (let i = from; i < Math.min(to, text.length); i++) if (!isBlank(text[i])) count += 1;
  return count;
}

// One text may have a hundred errors.
const knownUnits = new WeakMap<YamlScalar, readonly Unit[]>();

function visibleUnits(node: YamlScalar): readonly Unit[] {
  const units = knownUnits.get(node) ?? readUnits(node);
  knownUnits.set(node, units);
  return units;
}

/** Returns the place in the source of each UTF-16 unit of the value that is not white space. */
function readUnits(node: YamlScalar): readonly Unit[] {
  const { text } = node.source;
  const units: Unit[] = [];
  const quoted = node.style === "single-quoted" || node.style === "double-quoted";
  const end = node.offset + node.length - (quoted ? 1 : 0);
  let at = node.offset + (quoted ? 1 : 0);
  if (node.style === "block") {
    const header = text.indexOf("\n", node.offset);
    at = header === -1 ? end : header + 1;
  }
  while (at < end) {
    if (node.style === "double-quoted" && text[at] === "\\") at = readEscape(text, at, units);
    else if (node.style === "single-quoted" && text[at] === "'") units.push({ start: at, end: (at += 2) });
    else if (isBlank(text[at])) at += 1;
    else units.push({ start: at, end: (at += 1) });
  }
  return units;
}

function readEscape(text: string, at: number, units: Unit[]): number {
  const letter = text[at + 1] ?? "";
  const end = at + (ESCAPE_LENGTHS[letter] ?? 2);
  const code = letter in ESCAPE_LENGTHS ? Number.parseInt(text.slice(at + 2, end), 16) : 0;
  const isWhite = letter in ESCAPE_LENGTHS ? isBlank(String.fromCharCode(code)) : "ntr \t\r\n".includes(letter);
  if (!isWhite) units.push({ start: at, end });
  // An astral character is two units of the value.
  if (code > 0xffff) units.push({ start: at, end });
  return end;
}
