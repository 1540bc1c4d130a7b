import { colorOf, DIM, formatLines, type Line, MARKS, railsOf } from "@steps/trace/tree";
import { formatDuration } from "@steps/trace";
import type { ProgressNode, ProgressTree } from "./progress-tree.ts";

/** The size and the abilities of a screen, and the moment that it shows. */
export interface Screen {
  readonly width: number;
  /** The most lines that are drawn. Default: all of them. */
  readonly height?: number;
  readonly hasColor: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const FRAME_MS = 100;
const CYAN = 36;

/** The lines of a tree, each cut at the width; what does not fit into the height is counted in the last line. */
export function drawTree({ root }: ProgressTree, screen: Screen): string[] {
  const all = [...linesOf(root, { lead: "", below: "" }, screen)];
  const { height = all.length } = screen;
  const lines = all.length <= height ? all : fit(all, Math.max(1, height));
  return formatLines(lines, screen).split("\n").slice(0, -1);
}

/** A line with what decides whether it is kept: the lower the rank, the sooner. */
interface Ranked extends Line {
  readonly rank: number;
}

function* linesOf(
  node: ProgressNode,
  { lead, below }: { readonly lead: string; readonly below: string },
  screen: Screen,
): Generator<Ranked> {
  const isRunning = node.status === "running";
  const mark = isRunning ? (FRAMES[Math.floor(screen.now / FRAME_MS) % FRAMES.length] ?? "") : MARKS[node.status];
  const color = isRunning ? CYAN : node.isAllowed === true ? 33 : colorOf(node.status);
  yield { lead, mark, text: describeNode(node, screen.now), color, rank: rankOf(node) };
  const { children } = node;
  for (const [index, child] of children.entries())
    yield* linesOf(child, railsOf(below, index === children.length - 1), screen);
}

/** A node in one line: its label, its time, how it ended, and what it does or why it did not run. */
export function describeNode(node: ProgressNode, now: number): string {
  const { label, status, startedAt, endedAt, isAllowed, exitCode, signal, activity, reason } = node;
  const isRunning = status === "running";
  const ms = Math.max(0, (endedAt ?? now) - startedAt);
  return [
    label,
    status === "skipped" ? "" : isRunning ? elapsed(ms) : formatDuration(ms),
    isRunning || status === "success" ? "" : status,
    isAllowed === true && !isRunning && status !== "success" && status !== "skipped" ? "(allowed)" : "",
    exitCode === undefined || exitCode === 0 ? "" : `exit ${exitCode}`,
    signal ?? "",
    firstLine(activity ?? reason ?? ""),
  ]
    .filter((part) => part !== "")
    .join("  ");
}

/** A time that is still counted: whole seconds, none before the first. */
function elapsed(ms: number): string {
  if (ms < 1000) return "";
  return ms < 60_000 ? `${Math.floor(ms / 1000)}s` : formatDuration(ms);
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

function rankOf({ status, isAllowed, children }: ProgressNode): number {
  if (status === "running") return 0;
  if (status !== "success" && status !== "skipped" && isAllowed !== true) return 1;
  return children.length > 0 ? 2 : 3;
}

// Running steps are seen first, then failed ones, then those that ended last.
function fit(lines: readonly Ranked[], height: number): Line[] {
  const places = lines.map((line, index) => ({ line, index }));
  const wanted = places.toSorted((a, b) => a.line.rank - b.line.rank || b.index - a.index);
  const kept = new Set(wanted.slice(0, height - 1).map(({ index }) => index));
  const shown: Line[] = lines.filter((_, index) => kept.has(index));
  return [...shown, { lead: "", text: `… ${lines.length - shown.length} more`, color: DIM }];
}
