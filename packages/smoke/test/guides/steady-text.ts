const TIME = /\d+m\d\ds|\d+(?:\.\d+)? ?(?:ms|s)\b/g;
const DATE = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?/g;
const ID = /\b(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{7,64})\b/g;

/** A text without what differs from run to run: times, dates, ids, the place of the shell, and how far columns are apart. */
function steady(text: string): string {
  return text
    .replaceAll(DATE, "DATE")
    .replaceAll(ID, "ID")
    .replaceAll(TIME, "TIME")
    .replaceAll(/\/\S*\/bash:/g, "bash:")
    .replaceAll(/ {2,}/g, "  ")
    .replaceAll(/ +$/gm, "")
    .trim();
}

/** Whether a command has printed what a page shows. A `…` of the page stands for any text, and on a line of its own for any lines. */
export function isSameOutput(shown: string, printed: string): boolean {
  const pattern = steady(shown)
    .split(/^…$/m)
    .map((part) =>
      part
        .split("…")
        .map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
        .join(".*"),
    )
    .join("[^]*");
  return new RegExp(`^${pattern}$`).test(steady(printed));
}
