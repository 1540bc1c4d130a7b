import { describe, expect, test } from "vitest";
import { createRecorder } from "../../test/recorder.ts";
import { createInterpreter, type InterpreterOptions } from "./interpreter.ts";
import { createOutputFilter, MAX_COMMAND_BYTES } from "./output-filter.ts";
import { ProblemMatchers } from "./problem-matchers.ts";

function createSubject(options: Partial<InterpreterOptions> = {}) {
  const { sink, calls } = createRecorder();
  const interpreter = createInterpreter({
    sink,
    matchers: new ProblemMatchers(),
    allowsUnsecure: false,
    isDebug: false,
    groupStyle: "github",
    now: () => 0,
    ...options,
  });
  const filter = createOutputFilter(interpreter);
  return {
    calls,
    interpreter,
    filter,
    push: (text: string) => Buffer.from(filter.push(Buffer.from(text))).toString(),
    end: () => Buffer.from(filter.end()).toString(),
  };
}

function matchersOf(pattern: object[]): ProblemMatchers {
  const matchers = new ProblemMatchers();
  matchers.add(JSON.stringify({ problemMatcher: [{ owner: "tool", pattern }] }));
  return matchers;
}

describe("createOutputFilter()", () => {
  test("passes a chunk without commands as it is", () => {
    const { filter } = createSubject();
    const chunk = Buffer.from("one\ntwo\r\nthree \xff\xfe", "latin1");
    const printed = filter.push(chunk);
    expect(printed.buffer).toBe(chunk.buffer);
    expect(Buffer.from(printed).equals(chunk)).toBe(true);
    expect(filter.end()).toHaveLength(0);
    expect(filter.push(new Uint8Array(0))).toHaveLength(0);
  });

  test.each<[string, string[], string[]]>([
    ["a progress bar", ["10%", " 20%\r", "30%\r\n"], ["10%", " 20%\r", "30%\r\n"]],
    ["a question", ["Name: "], ["Name: "]],
    ["one that begins like a command", ["  :", ":no", " command\n"], ["", "", "  ::no command\n"]],
    ["a single colon", [":", " x"], ["", ": x"]],
    ["signs in a line", ["a #", "# b", "##", "[x"], ["a ", "## b", "", ""]],
    ["colons in a line", ["a:", ":error::x\n"], ["a:", ":error::x\n"]],
    ["blanks", ["  ", "  x"], ["", "    x"]],
    ["an older command in a line", ["a ##[err", "or]x\nb"], ["a ", "##[error]x\nb"]],
    ["a command that prints nothing", ["a\n::set-output name=x::y\n", "b"], ["a\n", "b"]],
    ["an older one behind text", ["a ##[set-output name=x]y\n", "b"], ["a \n", "b"]],
    ["CRLF", ["::error::x\r\na\r\n"], ["##[error]x\na\r\n"]],
    ["a CRLF in two", ["::error::x\r", "\na\r", "\nb"], ["##[error]x\n", "a\r", "\nb"]],
    ["a dropped CRLF in two", ["::echo::off\r", "\na"], ["", "a"]],
    ["a CR alone", ["50%\r::error::x\ra"], ["50%\r##[error]x\na"]],
  ])("prints %s as soon as it can", (_, chunks, expected) => {
    const { push } = createSubject();
    expect(chunks.map((chunk) => push(chunk))).toEqual(expected);
  });

  test.each<[string, string]>([
    ["::error::x", "##[error]x"],
    ["::set-output name=x::y", ""],
    ["a ##[error]x", "a ##[error]x"],
    ["::unknown::x", "::unknown::x"],
    ["  :", "  :"],
    ["a\n##", "a\n##"],
  ])("ends with %j without a line end", (text, expected) => {
    const { push, end } = createSubject();
    expect(push(text) + end()).toBe(expected);
    expect(end()).toBe("");
  });

  test("does not take a byte order mark for nothing, and keeps bytes that are no text", () => {
    const { filter, calls } = createSubject();
    const bytes = Buffer.from("\xEF\xBB\xBF::error::x\n::unk\xFFnown::\xFE\n", "latin1");
    expect(Buffer.from(filter.push(bytes)).equals(bytes)).toBe(true);
    expect(calls).toEqual([]);
  });

  test("lets a line that is too long for a command pass", () => {
    const head = "::set-output name=x::";
    const fits = `${head}${"y".repeat(MAX_COMMAND_BYTES - head.length)}`;
    for (const size of [MAX_COMMAND_BYTES * 2, 65_536]) {
      const { push, end, calls } = createSubject();
      let printed = "";
      const text = `${fits}\n${fits}y\n::error::after\n${fits}yy`;
      for (let at = 0; at < text.length; at += size) printed += push(text.slice(at, at + size));
      expect(calls.map(([name]) => name)).toEqual(["setOutput", "annotate"]);
      expect(printed).toBe(`${fits}y\n##[error]after\n${fits}yy`);
      expect(end()).toBe("");
    }
  });

  test("holds a command that comes byte by byte, whoever uses the memory of its chunks again", () => {
    const { filter, calls } = createSubject();
    const value = "y".repeat(MAX_COMMAND_BYTES - 100);
    const chunk = Buffer.alloc(1);
    let printed = 0;
    for (const byte of Buffer.from(`::set-output name=x::${value}\n`)) {
      chunk[0] = byte;
      printed += filter.push(chunk).length;
    }
    expect(printed).toBe(0);
    expect(calls).toEqual([["setOutput", "x", value]]);
  });

  test("keeps the commands of two streams in the order in which they come", () => {
    const { interpreter, filter, push, calls } = createSubject();
    const other = createOutputFilter(interpreter);
    push("::set-output name=x::1");
    other.push(Buffer.from("::stop-commands::t\n"));
    expect(push("\n")).toBe("::set-output name=x::1\n");
    expect(Buffer.from(filter.end()).toString() + Buffer.from(other.push(Buffer.from("::t::\n"))).toString()).toBe("");
    other.push(Buffer.from("::set-output name=x::2\n"));
    expect(calls).toEqual([["setOutput", "x", "2"]]);
  });

  test("shows whole lines to problem matchers, and passes others byte for byte", () => {
    const { push, end, calls } = createSubject({ matchers: matchersOf([{ regexp: "^E (.*)$", message: 1 }]) });
    expect(push("E on")).toBe("");
    expect(push("e\r")).toBe("##[error]E one\n");
    expect(push("\nplain \u00FF\rE two\r\nrest")).toBe("plain \u00FF\r##[error]E two\n");
    expect(end()).toBe("rest");
    expect(calls.map(([, annotation]) => (annotation as { message: string }).message)).toEqual(["one", "two"]);
  });

  test("does not take a CRLF in two for an empty line", () => {
    const matchers = matchersOf([{ regexp: "^a$" }, { regexp: "^b$", message: 0 }]);
    const { push } = createSubject({ matchers });
    expect(push("a\r") + push("\nb\r") + push("\n")).toBe("a\r\n##[error]b\n");
  });

  test("does not make one problem of the lines of two streams", () => {
    const matchers = matchersOf([{ regexp: "^a$" }, { regexp: "^b$", message: 0 }]);
    const { push, interpreter } = createSubject({ matchers });
    const other = createOutputFilter(interpreter);
    expect(push("a\n") + Buffer.from(other.push(Buffer.from("b\n"))).toString() + push("b\n")).toBe(
      "a\nb\n##[error]b\n",
    );
  });

  test("does not match a line whose start was printed before there was a matcher", () => {
    const matchers = new ProblemMatchers();
    const { push, calls } = createSubject({ matchers });
    expect(push("E o")).toBe("E o");
    matchers.add(JSON.stringify({ problemMatcher: [{ owner: "x", pattern: [{ regexp: "E|e", message: 0 }] }] }));
    expect(push("ne\nE\nx")).toBe("ne\n##[error]E\n");
    expect(calls).toHaveLength(1);
  });

  test("does not take a CRLF in two for an empty line when a matcher came in between", () => {
    const matchers = new ProblemMatchers();
    const { push } = createSubject({ matchers });
    expect(push("a\r")).toBe("a\r");
    const pattern = [{ regexp: "^$" }, { regexp: "^b$", message: 0 }];
    matchers.add(JSON.stringify({ problemMatcher: [{ owner: "x", pattern }] }));
    expect(push("\nb\n") + push("\nb\n")).toBe("\nb\n\n##[error]b\n");
  });

  test("ends an open section with the last of its streams", () => {
    const { push, end, interpreter } = createSubject({ groupStyle: "gitlab" });
    const other = createOutputFilter(interpreter);
    push("::group::x\n");
    expect(end()).toBe("");
    expect(Buffer.from(other.end()).toString()).toMatch(/^section_end:0:action_group_[0-9a-f]{16}\r\u001B\[0K\n$/);
    expect(other.end()).toHaveLength(0);
  });
});
