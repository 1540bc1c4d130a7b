const LINE_FEED = 10;
/** A line that is longer is shown in pieces, so that a trace without line feeds takes no memory. */
const MAX_LINE_BYTES = 64 * 1024;
/** The time, the number of the stream, its kind, and whether the line goes on with the one before (GitLab Runner, FF_TIMESTAMPS). */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z [0-9a-f]{2}[OE][+ ]?/;
/** The beginning or the end of a section, with its options (GitLab, "Custom collapsible sections"). */
const SECTION = /(?:\u001B\[0K)?section_(?:start|end):\d+:[\w.-]+(?:\[[^\]\r]*\])?\r(?:\u001B\[0K)?/g;
/** Clears the line, which has nothing yet. */
const CLEAR = /^\u001B\[0K/;

/** Takes from a trace, as it comes in parts, the times and the marks of sections that runners write for a web page, and keeps all else. */
export class ReadableTrace {
  #begun: Buffer = Buffer.alloc(0);
  /** Whether the line that has begun is the rest of one whose beginning was shown. */
  #isRest = false;

  /** The lines that the part completes. */
  push(part: Buffer): Buffer {
    const bytes = Buffer.concat([this.#begun, part]);
    const shown: Buffer[] = [];
    let start = 0;
    for (let end; (end = bytes.indexOf(LINE_FEED, start)) !== -1; start = end + 1)
      shown.push(this.#line(bytes.subarray(start, end + 1)));
    this.#begun = bytes.subarray(start);
    if (this.#begun.length > MAX_LINE_BYTES) {
      shown.push(this.#line(this.#begun));
      this.#isRest = true;
      this.#begun = Buffer.alloc(0);
    }
    return Buffer.concat(shown);
  }

  /** The line that has no end. */
  end(): Buffer {
    const rest = this.#line(this.#begun);
    this.#begun = Buffer.alloc(0);
    return rest;
  }

  #line(bytes: Buffer): Buffer {
    const isRest = this.#isRest;
    this.#isRest = false;
    // Latin-1 gives each byte back as it came.
    const text = bytes.toString("latin1");
    const said = isRest ? text : text.replace(TIME, "");
    const plain = said.replaceAll(SECTION, "");
    const isMark = plain !== said && plain.trim() === "";
    return isMark ? Buffer.alloc(0) : Buffer.from(plain.replace(CLEAR, ""), "latin1");
  }
}
