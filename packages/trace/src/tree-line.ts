import type { RunStatusJson } from "@steps/proto";

/** The options of `formatTrace()`. */
export interface FormatOptions {
  /** Columns; longer lines are cut with `…`. */
  readonly width: number;
  readonly hasColor: boolean;
}

/** The mark of a step by its status. */
export const MARKS: Readonly<Record<RunStatusJson, string>> = {
  run_status_unspecified: "?",
  running: "▶",
  success: "✓",
  failure: "✗",
  error: "!",
  timeout: "⧖",
  cancelled: "⊘",
  skipped: "-",
  interrupted: "…",
};

/** Colours of a terminal. */
export const RED = 31;
export const YELLOW = 33;
/** The number that makes text dim. */
export const DIM = 2;
const GREEN = 32;

/** A line before it is cut and coloured. */
export interface Line {
  readonly lead: string;
  readonly mark?: string;
  readonly text: string;
  readonly color?: number;
}

/** The texts before the line of a node of the tree, and before the lines below it. */
export interface Rails {
  readonly lead: string;
  readonly below: string;
}

/** The rails of one of the children of a node whose lines begin with `below`. */
export function railsOf(below: string, isLast: boolean): Rails {
  return isLast ? { lead: `${below}└─ `, below: `${below}   ` } : { lead: `${below}├─ `, below: `${below}│  ` };
}

/** The text before the lines that tell of a node, above its children. */
export function innerLead(below: string, hasChildren: boolean): string {
  return hasChildren ? `${below}│ ` : `${below}  `;
}

/** The text of lines, each with a line feed. Control characters and direction marks are shown, never sent to the terminal. */
export function formatLines(lines: readonly Line[], options: FormatOptions): string {
  return lines.map((line) => `${render(line, options)}\n`).join("");
}

/** The colour of a step's mark. */
export function colorOf(status: RunStatusJson): number {
  if (status === "success") return GREEN;
  return status === "failure" || status === "error" || status === "timeout" ? RED : YELLOW;
}

function render({ lead, mark, text, color }: Line, { width, hasColor }: FormatOptions): string {
  const line = Array.from(`${lead}${mark === undefined ? "" : `${mark} `}${visible(text)}`);
  const cut = line.length <= width ? line.join("") : `${line.slice(0, Math.max(0, width - 1)).join("")}…`;
  if (!hasColor || color === undefined || cut.length <= lead.length) return cut;
  // A step's mark is coloured, any other line as a whole.
  const end = mark === undefined ? cut.length : lead.length + mark.length;
  return `${cut.slice(0, lead.length)}\u001b[${color}m${cut.slice(lead.length, end)}\u001b[0m${cut.slice(end)}`;
}

/** Control characters as their pictures, other invisible and direction characters as their numbers. */
function visible(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\u0000-\u001f]/g, (char) => String.fromCharCode(0x2400 + char.charCodeAt(0)))
    .replaceAll("\u007f", "\u2421")
    .replace(
      /[\u0080-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}
