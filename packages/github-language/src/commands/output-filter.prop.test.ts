import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createInterpreter, type Interpreter } from "./interpreter.ts";
import { createOutputFilter } from "./output-filter.ts";
import { ProblemMatchers } from "./problem-matchers.ts";
import { createRecorder } from "../../test/recorder.ts";

const WORDS = [
  "\n",
  "\n",
  "\r",
  "\r\n",
  " ",
  "\t",
  ":",
  "::",
  "#",
  "##",
  "##[",
  "]",
  "::error::",
  "::error file=a::",
  "::set-output name=a::",
  "::set-env name=a::",
  "::unknown::",
  "::add-mask::",
  "::stop-commands::done-now",
  "::done-now::",
  "::echo::on",
  "::echo::off",
  "::group::",
  "::endgroup::",
  "##[warning]",
  "##[add-matcher]m.json",
  "##[unknown]",
  "text",
  "std::vector",
  "\u00FF\u00FE",
  "E: bad",
  " ".repeat(1030),
] as const;

const MATCHER = JSON.stringify({
  problemMatcher: [
    { owner: "one", pattern: [{ regexp: "^E: (.*)$", message: 1 }] },
    { owner: "two", pattern: [{ regexp: "^text$" }, { regexp: "^(std.*)$", message: 1, loop: true }] },
  ],
});

function createSubject(hasMatchers: boolean): { interpreter: Interpreter; calls: readonly unknown[] } {
  const matchers = new ProblemMatchers();
  if (hasMatchers) matchers.add(MATCHER);
  const { sink, calls } = createRecorder((file) => matchers.add(MATCHER, file));
  const interpreter = createInterpreter({
    sink,
    matchers,
    allowsUnsecure: false,
    isDebug: false,
    groupStyle: "github",
    now: () => 0,
  });
  return { interpreter, calls };
}

// The rules once more, for a text that is there as a whole: each character is a byte.
function reference(text: string, interpreter: Interpreter): string {
  let result = "";
  for (const [, line = "", lineEnd = ""] of text.matchAll(/([^\r\n]*)(\r\n|\n|\r|$)/g)) {
    if (line === "" && lineEnd === "") continue;
    let start = 0;
    if (!interpreter.needsAllLines && !/^[ \t\v\f]{0,1024}(?:::|##\[)/.test(line)) start = line.indexOf("##[");
    const subject = start < 0 ? undefined : Buffer.from(line.slice(start), "latin1").toString("utf8");
    const printed = subject === undefined ? subject : interpreter.line(subject);
    if (printed === subject) result += line + lineEnd;
    else {
      const bytes = Buffer.from(printed ?? "", "utf8").toString("latin1");
      result += line.slice(0, start) + bytes;
      if ((printed !== undefined || start > 0) && lineEnd !== "") result += "\n";
    }
  }
  return result;
}

function filter(text: string, sizes: readonly number[], interpreter: Interpreter): string {
  const bytes = Buffer.from(text, "latin1");
  const subject = createOutputFilter(interpreter);
  let result = "";
  const take = (part: Uint8Array): void => {
    result += Buffer.from(part).toString("latin1");
  };
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] as number;
    const chunk = Buffer.from(bytes.subarray(at, at + size));
    take(subject.push(chunk));
    chunk.fill(0);
    at += size;
  }
  take(subject.end());
  return result;
}

describe("createOutputFilter()", () => {
  const text = fc.array(fc.constantFrom(...WORDS), { maxLength: 40 }).map((words) => words.join(""));
  const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 });

  test("prints and does the same for every way to cut a text, as the rules say for the whole", () => {
    fc.assert(
      fc.property(text, sizes, fc.boolean(), (text, sizes, hasMatchers) => {
        const whole = createSubject(hasMatchers);
        const expected = reference(text, whole.interpreter);
        for (const cut of [sizes, [1], [2], [1_000_000]]) {
          const subject = createSubject(hasMatchers);
          expect(filter(text, cut, subject.interpreter)).toBe(expected);
          expect(subject.calls).toEqual(whole.calls);
        }
      }),
      { numRuns: 700 },
    );
  });

  test("passes bytes without commands unchanged", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 20 }), (chunks) => {
        const { interpreter, calls } = createSubject(false);
        const subject = createOutputFilter(interpreter);
        const printed = Buffer.concat([...chunks.map((chunk) => Buffer.from(subject.push(chunk))), subject.end()]);
        expect(printed.equals(Buffer.concat(chunks))).toBe(true);
        expect(calls).toEqual([]);
      }),
    );
  });
});
