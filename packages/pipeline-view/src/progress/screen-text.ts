const COLOR = /\u001B\[[0-9;]*m/g;

// Most terminals show these in two columns: East Asian scripts and pictures.
const WIDE =
  /[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{1F000}-\u{1FAFF}\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/gu;

/** The columns that a text of one line takes, colours apart. */
function columnsOf(text: string): number {
  const shown = text.replaceAll(COLOR, "");
  return Array.from(shown).length + (shown.match(WIDE)?.length ?? 0);
}

/** The rows that a line takes on a terminal of a width. */
export function heightOf(line: string, width: number): number {
  return Math.max(1, Math.ceil(columnsOf(line) / width));
}
