import { fstatSync } from "node:fs";
import { hasTerminal } from "@steps/platform/runtime";
import { type Cursor, OutputWriter, type Overlay } from "./output-writer.ts";

const cursor: Cursor = { isAtLineStart: true };

/** Standard output and standard error, shared by everything that writes to them so that order is kept. */
export const output: OutputWriter = new OutputWriter(1, cursor);
/** The standard error of this process. */
export const errors: OutputWriter = new OutputWriter(2, isOnePlace() ? cursor : undefined);

// A terminal, or one file for both.
function isOnePlace(): boolean {
  try {
    const [first, second] = [fstatSync(1), fstatSync(2)];
    return first.dev === second.dev && first.ino === second.ino;
  } catch {
    // One of them is closed.
    return false;
  }
}

let program = "step-runner";

/** The name that this process was given by `runProgram()`; it is said before each complaint. */
export function programName(): string {
  return program;
}

/** Sets the name of the program. A process is one program, so the name is global. */
export function nameProgram(name: string): void {
  program = name;
}

/** The job has to end: a reader that has stopped reading does not hold it up any more. */
export function hurryOutput(): void {
  output.hurry();
  errors.hurry();
}

/** Sets what is drawn at the end of standard error, and of standard output where both are one terminal; `undefined` takes it off. */
export function setOverlay(overlay: Overlay | undefined): void {
  errors.overlay = overlay;
}

/** How a run may be shown: as a tree that grows, as plain lines, as a line for each step that begins, or not. */
export type ProgressMode = "tree" | "plain" | "lines" | "quiet";

/**
 * How a run is shown. By itself that is a tree where standard error is a terminal, plain lines where that terminal is one of a CI
 * system (`CI`), and otherwise a line for each step. A tree that was asked for needs a terminal, and is plain without one.
 */
export function progressMode(
  { progress, quiet }: { readonly progress: "auto" | "tree" | "plain" | "quiet"; readonly quiet: boolean },
  env: NodeJS.ProcessEnv = process.env,
): ProgressMode {
  if (quiet || progress === "quiet") return "quiet";
  const canDraw = hasTerminal(2) && env["TERM"] !== "dumb";
  if (progress !== "auto") return progress === "tree" && !canDraw ? "plain" : progress;
  if (!canDraw) return "lines";
  return ["", "0", "false"].includes(env["CI"] ?? "") ? "tree" : "plain";
}

/** The capabilities of an output stream. */
export interface Terminal {
  readonly isTerminal: boolean;
  readonly hasColor: boolean;
  /** Columns; 100 where there is no terminal. */
  readonly width: number;
  readonly bold: (text: string) => string;
  readonly red: (text: string) => string;
  readonly dim: (text: string) => string;
}

/** The abilities of a stream: colour only on a terminal without `NO_COLOR` that is not dumb, or if `FORCE_COLOR` says so. */
export function terminalOf(fd: 1 | 2, env: NodeJS.ProcessEnv = process.env): Terminal {
  const isTerminal = hasTerminal(fd);
  const forced = env["FORCE_COLOR"] !== undefined && env["FORCE_COLOR"] !== "0" && env["FORCE_COLOR"] !== "";
  const hasColor = (env["NO_COLOR"] ?? "") === "" && (forced || (isTerminal && env["TERM"] !== "dumb"));
  const paint = (code: number) => (text: string) => (hasColor ? `\u001B[${code}m${text}\u001B[0m` : text);
  const columns = Number(env["COLUMNS"]);
  const width = isTerminal
    ? (fd === 1 ? process.stdout : process.stderr).columns
    : Number.isInteger(columns) && columns > 0
      ? columns
      : 100;
  return { isTerminal, hasColor, width: Math.max(20, width), bold: paint(1), red: paint(31), dim: paint(2) };
}

/** Says on standard error what went wrong, and what to do about it. */
export function complain(message: string, hint?: string): void {
  const { red } = terminalOf(2);
  const rows = [`${red(`${program}:`)} ${message}`, ...(hint === undefined ? [] : [`  hint: ${hint}`])];
  void errors.writeLines(`${rows.join("\n")}\n`);
}

/** Writes text to standard output at its reader's pace. */
export async function print(text: string): Promise<void> {
  await output.write(Buffer.from(text));
}
