// A whole escape sequence: CSI, OSC and the other strings, or one of two or three characters.
const SEQUENCE =
  /\u001B(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\u0007\u001B\u009C]*(?:\u0007|\u001B\\|\u009C)?|[ -/]*[0-~])|\u009B[0-?]*[ -/]*[@-~]/g;
const COLOR = /^\u001B\[[0-9;:]*m$/;
const CONTROL = /[\u0000-\u0008\u000B-\u001A\u001C-\u001F\u007F-\u009F\u200E\u200F\u2028-\u202E\u2066-\u2069]/g;

/**
 * The output of a program as a terminal may be given it at a later time: colours stay if they are wanted, everything else that drives
 * a terminal goes, and of a line that was drawn over only its last state is left.
 */
export function harmless(text: string, { hasColor }: { readonly hasColor: boolean }): string {
  const kept = text
    .toWellFormed()
    .replaceAll("\r\n", "\n")
    .replaceAll(SEQUENCE, (sequence) => (hasColor && COLOR.test(sequence) ? sequence : ""));
  return kept
    .split("\n")
    .map((line) => lastState(line).replaceAll(CONTROL, "\uFFFD"))
    .map((line) =>
      hasColor ? line.replaceAll(/\u001B(?!\[[0-9;:]*m)/g, "\uFFFD") : line.replaceAll("\u001B", "\uFFFD"),
    )
    .map((line) => (line.includes("\u001B") ? `${line}\u001B[0m` : line))
    .join("\n");
}

function lastState(line: string): string {
  const states = line.split("\r");
  return states.findLast((state) => state !== "") ?? "";
}
