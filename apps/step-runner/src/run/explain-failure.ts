import { errors, output, programName } from "@steps/console/terminal";
import { codeFrame, formatPosition, type Position, positionAt, printable } from "@steps/model/diagnostic";
import { failingNode, type JobView, lastLines, type ProgressNode, scriptOf } from "@steps/pipeline-view";
import type { CommandJob } from "./command-job.ts";

/** All that was seen of the steps of a job. */
type SeenJob = Pick<JobView, "tree" | "tails" | "lastHeight">;

/** The run whose failure is explained. */
export interface FailedRun {
  readonly job: Pick<CommandJob, "positionOf">;
  /** The id by which the kept run is found. */
  readonly traceId: string;
  /** The file with the trace, if it was written. */
  readonly outputFile: string | undefined;
}

/** A taller tree has moved the output out of sight. */
const MAX_TREE = 12;
/** How many lines of a list of commands are looked through for the one that failed. */
const MAX_ITEMS = 200;

const MEANINGS: Readonly<Record<number, string>> = {
  126: "a command is there, and cannot be executed",
  127: "a command was not found",
  137: "a process was killed, often for want of memory",
};

/**
 * Explains why a job failed, below the message that says so: the place of the step in its file, the line of its script as far as the
 * shell has told it, the end of its output unless that is right above, and the commands that show more. Ends with a line feed.
 */
export function explainFailure(view: SeenJob, run: FailedRun): string {
  const node = failingNode(view.tree);
  if (node === undefined) return `${hints(run, "")}\n`;
  const tail = view.tails.textOf(node.path);
  const failed = failedLine(node, tail);
  const position = placeOf(view, run, { node, failed });
  const { exitCode = 0 } = node;
  const rows = [
    ...(position === undefined ? [] : [formatPosition(position), codeFrame(position)]),
    ...(failed === undefined ? [] : [commandRow(failed, position)]),
    ...(MEANINGS[exitCode] === undefined ? [] : [`  exit code ${exitCode}: ${MEANINGS[exitCode]}`]),
    ...(isRightAbove(view, node.path) ? [] : lastLines(tail)),
    // A step without a process has no output.
    hints(run, node.command === undefined ? "" : nameOf(view, node.path)),
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

function commandRow({ number, text }: FailedLine, position: Position | undefined): string {
  const row = position?.source.text.split("\n")[position.line - 1];
  // The shell counts lines that the runner has added to those of a list, so its numbers would mislead.
  const isNumbered = number > 0 && (row === undefined || !isItem(row));
  return `  ${isNumbered ? `line ${number} of the script` : "command"}: ${shorten(text)}`;
}

/** The place of the line that failed, where the file has it as it ran; else that of the step, or of the one around it. */
function placeOf(
  view: SeenJob,
  { job: { positionOf } }: FailedRun,
  { node, failed }: { readonly node: ProgressNode; readonly failed: FailedLine | undefined },
): Position | undefined {
  if (positionOf === undefined) return undefined;
  let pointer = "";
  let found: Position | undefined;
  const parts = node.path.split("/");
  const { owner } = view.tree.nodeAt(parts[0] ?? "") ?? {};
  if (owner !== undefined) return placeOfOwner(view, positionOf, owner);
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

/** The place of the step whose action wanted something before or after the job; none where several have its name. */
function placeOfOwner(
  { tree }: SeenJob,
  positionOf: NonNullable<FailedRun["job"]["positionOf"]>,
  name: string,
): Position | undefined {
  const steps = (tree.nodeAt("")?.children ?? []).filter(({ owner, label }) => owner === undefined && label === name);
  return steps.length === 1 ? positionOf(`/definition/steps/${steps[0]?.path}`) : undefined;
}

function lineWithin({ source, line }: Position, { number, text }: FailedLine): Position | undefined {
  if (text === "") return undefined;
  const lines = source.text.split("\n");
  // The text of a block begins on the line below its mark.
  const inBlock = line - 1 + Math.max(1, number);
  const index = lines[inBlock]?.trim() === text ? inBlock : itemWith(lines, line - 1, text);
  if (index === undefined) return undefined;
  const start = lines.slice(0, index).reduce((sum, { length }) => sum + length + 1, 0);
  return positionAt(source, start + (lines[index] ?? "").indexOf(text), text.length);
}

/** The only item with this text near the beginning of a list, whose lines have other numbers in the shell. */
function itemWith(lines: readonly string[], first: number, text: string): number | undefined {
  const near = lines.slice(first, first + MAX_ITEMS);
  const found = near.flatMap((row, i) => (isItem(row) && unquoted(row) === text ? [first + i] : []));
  return found.length === 1 ? found[0] : undefined;
}

function isItem(row: string): boolean {
  return /^\s*- /.test(row);
}

function unquoted(row: string): string {
  const text = row.replace(/^\s*- /, "").trim();
  return /^(["']).*\1$/.test(text) ? text.slice(1, -1) : text;
}

/** The word by which the shell hands a step to `trace show --logs`: the names down to it, or its path where one has none. */
function nameOf({ tree }: SeenJob, path: string): string {
  const parts = path.split("/");
  const nodes = parts.map((_, index) => tree.nodeAt(parts.slice(0, index + 1).join("/")));
  const steps = nodes.filter((node) => node?.isAttempt !== true);
  const name = steps.map((node) => (node === undefined ? "" : nameIn(node))).join("/");
  if (/^[\w./-]+$/.test(name) && steps.every((node) => node?.isNamed === true)) return name;
  const isQuotable = /^[\w./#:@()[\], -]+$/.test(name) && steps.every((node) => node?.isNamed === true);
  return isQuotable ? `'${name}'` : (steps.at(-1)?.path ?? "");
}

// The kind of a phase is shown in front of its name.
function nameIn({ label, owner }: ProgressNode): string {
  return owner === undefined ? label : label.slice(label.indexOf(" ") + 1);
}

function isRightAbove(view: SeenJob, path: string): boolean {
  return errors.isBeside(output) && view.tails.isLast(path) && view.lastHeight <= MAX_TREE;
}

function hints({ traceId, outputFile }: FailedRun, step: string): string {
  const id = traceId.slice(0, 12);
  const logs = step === "" ? "" : ` --logs ${step}`;
  const program = programName();
  const replayed = outputFile === undefined ? id : printable(outputFile);
  return [
    `  hint: ${program} trace show ${id}${logs} shows ${logs === "" ? "the run" : "its output"}`,
    `  hint: ${program} replay ${replayed} runs it again`,
  ].join("\n");
}

function shorten(text: string): string {
  return printable(text.length > 200 ? `${text.slice(0, 199)}…` : text);
}
