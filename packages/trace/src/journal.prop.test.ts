import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exampleRun, fold } from "../test/events.ts";
import { parseJournal } from "./entries/journal.ts";
import { createRecorder } from "./index.ts";

const { journal, events } = fold(exampleRun());
const plain = JSON.parse(JSON.stringify(events)) as unknown[];
const lines = journal.trimEnd().split("\n");

describe("a journal", () => {
  test("cut at any byte gives the events before the cut, and a trace of them", () => {
    fc.assert(
      fc.property(fc.nat(journal.length), (at) => {
        const read = parseJournal(journal.slice(0, at));
        const whole = journal.slice(0, at).split("\n").length - 1;
        expect(read.events.length === whole || read.events.length === whole + 1).toBe(true);
        expect(read.events).toEqual(plain.slice(0, read.events.length));
        const recorder = createRecorder();
        for (const event of read.events) recorder.apply(event);
        const trace = recorder.trace({ journalRoot: read.root, journalEvents: read.events.length, isRecovered: true });
        const isOver = read.events.at(-1)?.type === "run-finished";
        if (!isOver && read.events.length < plain.length - 1) expect(trace.root?.det?.status).toBe("interrupted");
      }),
      { numRuns: 300 },
    );
  });

  test("with any character changed but in its last line is refused", () => {
    const line = fc.nat(lines.length - 2);
    fc.assert(
      fc.property(
        line,
        fc.nat(),
        fc.string({ unit: "binary-ascii", minLength: 1, maxLength: 1 }),
        (index, place, char) => {
          const original = lines[index] as string;
          const at = place % original.length;
          fc.pre(original[at] !== char);
          const changed = lines.with(index, original.slice(0, at) + char + original.slice(at + 1));
          expect(() => parseJournal(`${changed.join("\n")}\n`)).toThrow("Cannot read journal");
        },
      ),
      { numRuns: 1000 },
    );
  });
});
