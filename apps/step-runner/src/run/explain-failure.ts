import { errors, harmless, output, programName, terminalOf } from "@steps/console/terminal";
import { codeFrame, formatPosition, type Position, positionAt, printable } from "@steps/model/diagnostic";
import { failingNode, type JobView, type ProgressNode, scriptOf } from "@steps/pipeline-view";
import type { CommandJob } from "./command-job.ts";

/** The run whose failure is explained. */
export interface FailedRun {
  readonly job: Pick<CommandJob, "positionOf">;
  /** The id by which the kept run is found. */
  readonly traceId: string;
  /** The file with the trace, if it was written. */
  readonly outputFile: string | undefined;
}

const MAX_LINES = 10;
/** A taller tree has moved the output out of sight. */
const MAX_TREE = 12;
const MAX_LINE_CHARS = 500;

const MEANINGS: Readonly<Record<number, string>> = {
  126: "a command is there, and cannot be executed",
  127: "a command was not found",
  137: "a process was killed, often for want of memory",
};

/**
 * Explains why a job failed, below the message that says so: the place of the step in its file, the line of its script as far as the
 * shell has told it, the end of its output unless that is right above, and the commands that show more. Ends with a line feed.
 */
export function explainFailure(view: JobView, run: FailedRun): string {
  const node = failingNode(view.tree);
  if (node === undefined) return `${hints(run, "")}\n`;
  const tail = view.tails.textOf(node.path);
  const failed = failedLine(node, tail);
  const position = placeOf(view, run, { node, failed });
  const { exitCode = 0 } = node;
  const rows = [
    ...(position === undefined ? [] : [formatPosition(position), codeFrame(position)]),
    ...(failed === undefined
      ? []
      : [`  ${failed.number > 0 ? `line ${failed.number} of the script` : "command"}: ${shorten(failed.text)}`]),
    ...(MEANINGS[exitCode] === undefined ? [] : [`  exit code ${exitCode}: ${MEANINGS[exitCode]}`]),
    ...(isRightAbove(view, node.path) ? [] : lastLines(tail)),
    hints(
      run,
      view.tree
        .namesOf(node.path)
        .filter((_, index) => !isAttemptAt(view, node.path, index))
        .join("/"),
    ),
  ];
  return `${rows.join("\n")}\n`;
}

/** A line of a script, counted from 1; 0 for the whole command. */
interface FailedLine {
  readonly number: number;
  readonly text: string;
}

// Shells name the line where they complain themselves; a script of one line has no other.
function failedLine({ command = [] }: ProgressNode, tail: string): FailedLine | undefined {
  const script = scriptOf(command);
  if (script === undefined) return command.length === 0 ? undefined : { number: 0, text: command.join(" ") };
  const lines = script.split("\n");
  const told = Array.from(tail.matchAll(/^(?:\S*\/)?(?:ba|da|z|k|a)?sh: (?:line )?(\d{1,6}): /gm)).at(-1)?.[1];
  const text = lines[Number(told) - 1];
  if (told !== undefined && text !== undefined) return { number: Number(told), text: text.trim() };
  const written = lines.filter((line) => line.trim() !== "");
  return written.length === 1 ? { number: 0, text: (written[0] ?? "").trim() } : undefined;
}

/** The place of the line that failed, where the file has it as it ran; else that of the step, or of the one around it. */
function placeOf(
  view: JobView,
  { job: { positionOf } }: FailedRun,
  { node, failed }: { readonly node: ProgressNode; readonly failed: FailedLine | undefined },
): Position | undefined {
  if (positionOf === undefined) return undefined;
  let pointer = "";
  let found: Position | undefined;
  const parts = node.path.split("/");
  for (const [index, part] of parts.entries()) {
    const parent = view.tree.nodeAt(parts.slice(0, index).join("/"));
    if (parent?.plan?.attempts !== undefined) continue;
    const count = parent?.plan?.count ?? 0;
    const item = Number(part) < count ? `steps/${part}` : `finally/${Number(part) - count}`;
    pointer = `${pointer === "" ? "" : `${pointer}/step/specDef`}/definition/${item}`;
    found = positionOf(pointer) ?? found;
  }
  const script = positionOf(`${pointer}/inputs/script`);
  const line = script && failed && lineWithin(script, failed);
  return line ?? (failed?.number === 0 ? script : undefined) ?? found ?? script;
}

function lineWithin({ source, line }: Position, { number, text }: FailedLine): Position | undefined {
  const lines = source.text.split("\n");
  // The text of a block begins on the line below its mark.
  const index = line - 1 + Math.max(1, number);
  if (lines[index]?.trim() !== text || text === "") return undefined;
  const start = lines.slice(0, index).reduce((sum, { length }) => sum + length + 1, 0);
  return positionAt(source, start + (lines[index] ?? "").indexOf(text), text.length);
}

function isAttemptAt(view: JobView, path: string, index: number): boolean {
  return (
    view.tree.nodeAt(
      path
        .split("/")
        .slice(0, index + 1)
        .join("/"),
    )?.isAttempt === true
  );
}

function isRightAbove(view: JobView, path: string): boolean {
  return errors.isBeside(output) && view.tails.isLast(path) && view.lastHeight <= MAX_TREE;
}

function lastLines(tail: string): string[] {
  const lines = harmless(tail, terminalOf(2)).split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (lines.length === 0) return [];
  return ["  the end of its output:", ...lines.slice(-MAX_LINES).map((line) => `  | ${line.slice(0, MAX_LINE_CHARS)}`)];
}

function hints({ traceId, outputFile }: FailedRun, step: string): string {
  const id = traceId.slice(0, 12);
  const logs = step === "" || /[^\w./-]/.test(step) ? "" : ` --logs ${step}`;
  const program = programName();
  const replay =
    outputFile === undefined
      ? `${program} trace show ${id} --json > trace.json keeps its trace, which ${program} replay runs again`
      : `${program} replay ${printable(outputFile)} runs it again`;
  return [
    `  hint: ${program} trace show ${id}${logs} shows ${logs === "" ? "the run" : "all of its output"}`,
    `  hint: ${replay}`,
  ].join("\n");
}

function shorten(text: string): string {
  return printable(text.length > 200 ? `${text.slice(0, 199)}…` : text);
}
