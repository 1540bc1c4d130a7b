/** A terminal, as far as programs that draw a few lines need one: what it shows after some text. */
export class TerminalScreen {
  readonly #columns: number;
  readonly #lines: string[][] = [[]];
  #row = 0;
  #column = 0;
  #wraps = true;

  constructor(columns: number) {
    this.#columns = columns;
  }

  /** Everything that was ever shown and not cleared, without blanks at the ends of lines and without empty lines at the end. */
  get text(): string {
    return this.#lines
      .map((line) =>
        Array.from(line, (cell) => cell ?? " ")
          .join("")
          .trimEnd(),
      )
      .join("\n")
      .trimEnd();
  }

  /** Takes what a program writes: text, line ends, colours, and the sequences that move up, clear, and turn wrapping on and off. */
  write(text: string): this {
    const tokens = text.matchAll(/\u001B\[(\??)(\d*)(?:;\d*)*([A-Za-z])|(\r)|(\n)|([^\u001B])|(\u001B)/gu);
    for (const [, mark, number, command, carriage, feed, char, unknown] of tokens) {
      if (unknown !== undefined) throw new Error("An escape sequence that this terminal does not know");
      if (command !== undefined) this.#obey(`${mark}${command}`, number ?? "");
      else if (carriage !== undefined) this.#column = 0;
      else if (feed !== undefined) this.#feed();
      else this.#put(char ?? "");
    }
    return this;
  }

  #obey(command: string, number: string): void {
    const line = this.#lines[this.#row] as string[];
    if (command === "A") this.#row = Math.max(0, this.#row - Number(number || 1));
    else if (command === "K") line.length = Math.min(line.length, this.#column);
    else if (command === "J") {
      line.length = Math.min(line.length, this.#column);
      this.#lines.length = this.#row + 1;
    } else if (command === "?l" || command === "?h") this.#wraps = number === "7" ? command === "?h" : this.#wraps;
    else if (command !== "m") throw new Error(`A sequence that this terminal does not know: ${number}${command}`);
  }

  #feed(): void {
    this.#row += 1;
    this.#column = 0;
    this.#lines[this.#row] ??= [];
  }

  #put(char: string): void {
    if (this.#column >= this.#columns) {
      if (!this.#wraps) this.#column = this.#columns - 1;
      else this.#feed();
    }
    (this.#lines[this.#row] as string[])[this.#column] = char;
    this.#column += 1;
  }
}
