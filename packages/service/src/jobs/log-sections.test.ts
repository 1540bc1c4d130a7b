import type { JournalEvent } from "@steps/trace/journal";
import { expect, test } from "vitest";
import { LogSections } from "./log-sections.ts";

const TIMES = { opened: 1_700_000_000_999, finished: 1_700_000_007_000 };

function opened(path: string, name: string, phase?: "pre"): JournalEvent {
  return { type: "step-opened", at: TIMES.opened, path, name, ...(phase === undefined ? {} : { phase }) };
}

function planned(path: string): JournalEvent {
  return { type: "step-planned", at: TIMES.opened, path } as JournalEvent;
}

function finished(path: string): JournalEvent {
  return { type: "step-finished", at: TIMES.finished, path, status: "success", outputs: {}, exports: {} };
}

function marksOf(events: readonly JournalEvent[]): readonly string[] {
  const marks: string[] = [];
  const sections = new LogSections({ a: "The head" }, { tryMark: (text) => void marks.push(text) });
  for (const event of events) sections.apply(event);
  return marks;
}

test("a section has the times in seconds, and its head", () => {
  expect(marksOf([opened("", "a"), planned(""), opened("0", "a"), planned("0"), finished("0"), finished("")])).toEqual([
    "section_start:1700000000:a\r\u001B[0K\u001B[36;1mThe head\u001B[0;m\n",
    "section_end:1700000007:a\r\u001B[0K",
  ]);
});

test.each([
  ["a step of a step", [opened("0/1", "a"), planned("0/1"), finished("0/1")]],
  ["a part of an action that runs before", [opened("0", "a", "pre"), planned("0"), finished("0")]],
  ["a step that does not run", [opened("0", "a"), finished("0")]],
  ["a step that is not named", [opened("0", "b"), planned("0"), finished("0")]],
] satisfies [string, JournalEvent[]][])("%s has no section", (_what, events) => {
  expect(marksOf(events)).toEqual([]);
});
