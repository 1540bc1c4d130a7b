import { randomUUID } from "node:crypto";
import { FileCommandError } from "./command-error.ts";

/** A step summary of more bytes is an error and is dropped. */
export const SUMMARY_MAX_BYTES: number = 1024 * 1024;

/** How the file of each variable is called in `$RUNNER_TEMP/_runner_file_commands`, before its random part. */
export const FILE_COMMAND_PREFIXES: Readonly<
  Record<"GITHUB_ENV" | "GITHUB_OUTPUT" | "GITHUB_STATE" | "GITHUB_PATH" | "GITHUB_STEP_SUMMARY", string>
> = {
  GITHUB_ENV: "set_env_",
  GITHUB_OUTPUT: "set_output_",
  GITHUB_STATE: "save_state_",
  GITHUB_PATH: "add_path_",
  GITHUB_STEP_SUMMARY: "step_summary_",
};

/** Whether no command and no file may set this variable for later steps: whatever runs next would load its code. */
export function isBlockedVariable(name: string): boolean {
  return name.toUpperCase() === "NODE_OPTIONS";
}

interface Cursor {
  readonly text: string;
  readonly isWindows: boolean;
  at: number;
  line: number;
}

interface Line {
  readonly text: string;
  readonly start: number;
  /** The offsets behind the line's text and behind its line end; they are equal for a last line without one. */
  readonly textEnd: number;
  readonly end: number;
}

/**
 * The pairs of a file behind `GITHUB_ENV`, `GITHUB_OUTPUT` or `GITHUB_STATE`, in order and with repeated names.
 *
 * A line is `NAME=VALUE` when its `=` comes before any `<<`, with everything behind the `=` as the value; or
 * `NAME<<DELIMITER`, and the value is all lines up to one that equals the delimiter, without the last line end. Blank
 * lines between pairs are ignored, a byte order mark too. A line ends with LF; CRLF is a line end on Windows only.
 *
 * @throws FileCommandError naming the line; never its text, which may be a secret.
 */
export function parseKeyValues(
  text: string,
  options: { readonly isWindows?: boolean } = {},
): ReadonlyArray<readonly [string, string]> {
  const at = text.startsWith("\uFEFF") ? 1 : 0;
  const cursor: Cursor = { text, isWindows: options.isWindows ?? false, at, line: 0 };
  const pairs: (readonly [string, string])[] = [];
  for (let line = nextLine(cursor); line; line = nextLine(cursor)) {
    if (line.text !== "") pairs.push(parsePair(line.text, cursor));
  }
  return pairs;
}

function parsePair(line: string, cursor: Cursor): readonly [string, string] {
  const first = cursor.line;
  const equals = line.indexOf("=");
  const heredoc = line.indexOf("<<");
  if (equals < 0 && heredoc < 0) throw new FileCommandError('Neither "=" nor "<<" follows a name', first);
  const isHeredoc = heredoc >= 0 && (equals < 0 || heredoc < equals);
  const name = line.slice(0, isHeredoc ? heredoc : equals);
  if (name === "") throw new FileCommandError("The name is empty", first);
  if (!isHeredoc) return [name, line.slice(equals + 1)];
  const delimiter = line.slice(heredoc + 2);
  if (delimiter === "") throw new FileCommandError(`The delimiter of "${name}" is empty`, first);
  return [name, heredocValue(cursor, { name, delimiter, first })];
}

function heredocValue(
  cursor: Cursor,
  { name, delimiter, first }: { readonly name: string; readonly delimiter: string; readonly first: number },
): string {
  const start = cursor.at;
  let end = start;
  for (let line = nextLine(cursor); line; line = nextLine(cursor)) {
    if (line.text === delimiter) return cursor.text.slice(start, end);
    if (line.end === line.textEnd) {
      throw new FileCommandError(`The last line of the value of "${name}" has no line end`, cursor.line);
    }
    end = line.textEnd;
  }
  throw new FileCommandError(`The delimiter of "${name}" does not come again`, first);
}

function nextLine(cursor: Cursor): Line | undefined {
  const { text, at: start } = cursor;
  if (start >= text.length) return undefined;
  const found = text.indexOf("\n", start);
  const hasCarriageReturn = cursor.isWindows && found > start && text[found - 1] === "\r";
  const textEnd = found < 0 ? text.length : hasCarriageReturn ? found - 1 : found;
  cursor.at = found < 0 ? text.length : found + 1;
  cursor.line += 1;
  return { text: text.slice(start, textEnd), start, textEnd, end: cursor.at };
}

/** The paths of the file behind `GITHUB_PATH`, one a line (LF, CRLF or CR), blank ones left out, the oldest first. */
export function parsePathLines(text: string): readonly string[] {
  const lines = (text.startsWith("\uFEFF") ? text.slice(1) : text).split(/\r\n|\n|\r/);
  return lines.filter((line) => line.trim() !== "");
}

/**
 * One pair in the form with a delimiter, for a file that `parseKeyValues` reads; without a delimiter given, a random one.
 *
 * @throws FileCommandError when the name cannot be written in that form, or the delimiter occurs in the value.
 */
export function encodeKeyValue(
  name: string,
  value: string,
  delimiter: string = `ghadelimiter_${randomUUID()}`,
): string {
  if (name === "" || /[=\r\n]|<<|<$|^\uFEFF/.test(name)) {
    throw new FileCommandError(`The name ${JSON.stringify(name)} cannot be written`);
  }
  if (delimiter === "" || /[\r\n]/.test(delimiter)) throw new FileCommandError("The delimiter is not a line of text");
  if (value.includes(delimiter)) throw new FileCommandError(`The value of "${name}" holds the delimiter`);
  return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
}
