import { CLEAR_LINE, errors, terminalOf } from "@steps/console/terminal";
import type { CopyProgress } from "@steps/workspace";

const SHOW_AFTER_MS = 500;
const SAY_AFTER_MS = 3000;
const REDRAW_MS = 250;

/** Tells who waits for a copy of a project how far it is: in a line that is drawn over on a terminal, once elsewhere. */
export class CopyNotice implements Disposable {
  readonly #project: string;
  readonly #start = performance.now();
  readonly #terminal = terminalOf(2);
  readonly #timer: NodeJS.Timeout;
  #progress: CopyProgress | undefined;
  #hasLine = false;

  constructor(project: string) {
    this.#project = project;
    const isTerminal = this.#terminal.isTerminal;
    this.#timer = isTerminal
      ? setInterval(() => this.#draw(), REDRAW_MS)
      : setTimeout(() => void errors.writeLines(`${this.#text()}\n`), SAY_AFTER_MS);
    this.#timer.unref();
  }

  readonly onProgress = (progress: CopyProgress): void => {
    this.#progress = progress;
  };

  #text(): string {
    const amount = this.#progress === undefined ? "" : `: ${this.#progress.files} of ${this.#progress.of} files`;
    return `Copying ${this.#project}${amount}; --in-place runs the job without a copy`;
  }

  #draw(): void {
    if (performance.now() - this.#start < SHOW_AFTER_MS) return;
    const drawn = this.#text().slice(0, this.#terminal.width - 1);
    if (this.#hasLine) void errors.write(Buffer.from(`${CLEAR_LINE}${drawn}`));
    else void errors.writeLines(drawn);
    this.#hasLine = true;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    if (this.#hasLine) void errors.write(Buffer.from(CLEAR_LINE));
  }
}
