import { sha256 } from "@steps/platform";
import { describe, expect, test } from "vitest";
import { exampleRun, fold } from "../test/events.ts";
import { createJournal, type JournalEvent, parseJournal } from "./entries/journal.ts";

const { journal, events, trace } = fold(exampleRun());
const lines = journal.trimEnd().split("\n");

describe("parseJournal()", () => {
  test("reads back what createJournal() wrote", () => {
    const root = sha256(lines.at(-1) as string);
    expect(parseJournal(journal)).toEqual({
      events: JSON.parse(JSON.stringify(events)) as unknown,
      root,
      isTorn: false,
    });
    expect(trace.integrity).toMatchObject({ journalRoot: root, journalEvents: String(lines.length) });
    expect(lines[0]).toMatch(/^\{"seq":0,"prev":"0{64}","type":"run-started",/);
  });

  test("reads a job back under its names, which are others in the format", () => {
    const [first = ""] = lines;
    expect(first).toContain('"request":{"entry":"ci","definition":{');
    expect(first).toContain('"jobName":"build","source":"steps.yml","workDir":"/one/work","baseDir":"/one/work/ci"}');
    const [started] = parseJournal(journal).events;
    expect(started).toMatchObject({ job: { name: "build", specDefinition: {}, workDir: "/one/work" } });
    expect(started).not.toHaveProperty("request");
    expect(
      createJournal()
        .encode(started as JournalEvent)
        .trimEnd(),
    ).toBe(first);
  });

  test("reads an empty journal", () => {
    expect(parseJournal("")).toEqual({ events: [], root: createJournal().root, isTorn: false });
  });

  test.each([
    ["a changed line", lines.with(3, (lines[3] as string).replace("variable-read", "variable-raed"))],
    ["a line that is missing", lines.toSpliced(3, 1)],
    ["two lines swapped", lines.with(3, lines[4] as string).with(4, lines[3] as string)],
    ["a line that is no JSON", lines.with(1, "{")],
    ["a line that is no object", lines.with(1, "[]")],
  ])("refuses %s", (_, changed) => {
    expect(() => parseJournal(`${changed.join("\n")}\n`)).toThrow(/^Cannot read journal: line \d+: /);
    expect(() => parseJournal(`${changed.join("\n")}\n`)).toThrow(expect.objectContaining({ code: "JOURNAL_CORRUPT" }));
  });

  test.each([
    ["an unknown type", { type: "surprise", at: 1 }],
    ["no time", { type: "note", path: "0" }],
    ["no path", { type: "note", at: 1 }],
    ["an endless path", { type: "note", at: 1, path: "0/".repeat(1000) }],
    ["no outputs", { type: "step-finished", at: 1, path: "0" }],
    [
      "an invocation without env",
      { ...events.find((event) => event.type === "step-planned"), invocation: { inputs: {} } },
    ],
  ])("refuses an event with %s", (_, event) => {
    const writer = createJournal();
    const text = [event, events[0], events[1]].map((item) => writer.encode(item as never)).join("");
    expect(() => parseJournal(text)).toThrow("Cannot read journal: line 1: ");
  });
});
