import { errors, output, setOverlay, terminalOf } from "@steps/console/terminal";
import { drawTree } from "./draw-tree.ts";
import type { ProgressTree } from "./progress-tree.ts";
import { heightOf } from "./screen-text.ts";

const REDRAW_MS = 100;
/** How long a line that was not ended is waited for, before the view stands below it. */
const OPEN_LINE_MS = 1000;
const MAX_FINAL_LINES = 500;

/**
 * A tree at the end of what standard error shows, drawn again and again while it grows. Everything that is written goes through the
 * writers of the console, which take the view away first, so that output stays as it is and scrolls above the view.
 */
export class LiveView implements Disposable {
  readonly #tree: ProgressTree;
  readonly #redact: (text: string) => string;
  #drawn: readonly string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #openSince: number | undefined;

  /** @param redact takes secrets out of a line that is shown */
  constructor(tree: ProgressTree, redact: (text: string) => string = (text) => text) {
    this.#tree = tree;
    this.#redact = redact;
    this.resume();
  }

  /** Draws from now on. */
  resume(): void {
    if (this.#timer !== undefined) return;
    setOverlay({ hide: () => this.#hide() });
    this.#timer = setInterval(() => this.#draw(), REDRAW_MS).unref();
  }

  /** Ends a line that a program has left open, before another one writes. */
  endLine(): void {
    if (!errors.isAtLineStart) errors.draw("\n");
  }

  /** Takes the view away, for a person who is asked something, or for good. */
  suspend(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#hide();
    setOverlay(undefined);
  }

  /** Takes the view away and prints the tree as it is now. Gives the number of its lines. */
  finish(): number {
    this.suspend();
    const { width } = sizeOf();
    const { hasColor } = terminalOf(2);
    const screen = { width: width - 1, height: MAX_FINAL_LINES, hasColor, now: Date.now() };
    const lines = drawTree(this.#tree, screen).map(this.#redact);
    void errors.writeLines(lines.map((line) => `${line}\n`).join(""));
    return lines.length;
  }

  [Symbol.dispose](): void {
    this.suspend();
  }

  #draw(): void {
    if (!output.isIdle || !errors.isIdle || !this.#isAtLineStart()) return;
    const { width, height } = sizeOf();
    const { hasColor } = terminalOf(2);
    // The last column is left free: some terminals begin a new line as soon as it is written to.
    const screen = { width: width - 1, height: Math.max(1, height - 2), hasColor, now: Date.now() };
    const lines = drawTree(this.#tree, screen).map(this.#redact);
    errors.draw(
      `${hasColor ? RESET : ""}${NO_WRAP}${this.#above(width, height)}${lines.map((line) => `${line}${CLEAR_REST}\n`).join("")}${CLEAR_BELOW}${WRAP}`,
    );
    this.#drawn = lines;
  }

  // A program may end its line later; one that asks something never does.
  #isAtLineStart(): boolean {
    if (errors.isAtLineStart) {
      this.#openSince = undefined;
      return true;
    }
    const now = performance.now();
    this.#openSince ??= now;
    if (now - this.#openSince < OPEN_LINE_MS) return false;
    errors.draw("\n");
    this.#openSince = undefined;
    return true;
  }

  #hide(): void {
    this.#openSince = undefined;
    if (this.#drawn.length === 0) return;
    const { width, height } = sizeOf();
    errors.draw(`${this.#above(width, height)}${CLEAR_BELOW}`);
    this.#drawn = [];
  }

  /** The way to the first line that was drawn; a terminal that has become narrower has broken the lines. */
  #above(width: number, height: number): string {
    const rows = this.#drawn.reduce((sum, line) => sum + heightOf(line, width), 0);
    const up = Math.min(rows, height - 1);
    return up === 0 ? "\r" : `\r\u001B[${up}A`;
  }
}

const RESET = "\u001B[0m";
const NO_WRAP = "\u001B[?7l";
const WRAP = "\u001B[?7h";
const CLEAR_REST = "\u001B[K";
const CLEAR_BELOW = "\u001B[J";

/** The size of the terminal at this moment, which its user may change at any time. */
function sizeOf(): { readonly width: number; readonly height: number } {
  const { stderr } = process;
  const [columns, rows] = typeof stderr.getWindowSize === "function" ? stderr.getWindowSize() : [];
  return { width: Math.max(20, columns || 80), height: Math.max(4, rows || 24) };
}
