import { describe, expect, test } from "vitest";
import { createRecorder } from "../../test/recorder.ts";
import { createInterpreter, type InterpreterOptions } from "./interpreter.ts";
import { ProblemMatchers } from "./problem-matchers.ts";

function run(lines: readonly string[], options: Partial<InterpreterOptions> = {}) {
  const { sink, calls } = createRecorder();
  const matchers = options.matchers ?? new ProblemMatchers();
  const interpreter = createInterpreter({
    sink,
    matchers,
    allowsUnsecure: false,
    isDebug: false,
    groupStyle: "github",
    now: () => 1_700_000_000_999,
    ...options,
  });
  const printed = lines.map((line) => interpreter.line(line));
  return { printed, calls, interpreter, matchers };
}

const MATCHER = JSON.stringify({
  problemMatcher: [{ owner: "tool", severity: "warning", pattern: [{ regexp: "^W: (.*)$", message: 1 }] }],
});

describe("createInterpreter()", () => {
  test.each<[string, string | undefined, unknown[][]]>([
    ["plain", "plain", []],
    ["::unknown::x", "::unknown::x", []],
    ["::hasOwnProperty::x", "::hasOwnProperty::x", []],
    ["::set-output name=a::b", undefined, [["setOutput", "a", "b"]]],
    ["::set-output name=a::", undefined, [["setOutput", "a", ""]]],
    ["::set-output name=a::1%0A2%250A", undefined, [["setOutput", "a", "1\n2%0A"]]],
    ["::save-state name=A%3Ab::c::d", undefined, [["saveState", "A:b", "c::d"]]],
    ["::add-mask::hunter2", undefined, [["addMask", "hunter2"]]],
    ["::debug::x", undefined, []],
    ["::error::x", "##[error]x", [["annotate", { level: "error", message: "x" }]]],
    ["::warning::a%0Ab", "##[warning]a\nb", [["annotate", { level: "warning", message: "a\nb" }]]],
    ["##[notice]x", "##[notice]x", [["annotate", { level: "notice", message: "x" }]]],
    ["at 3: ##[error]x", "at 3: ##[error]x", [["annotate", { level: "error", message: "x" }]]],
    ["::group::a b", "##[group]a b", []],
    ["::endgroup::ignored", "##[endgroup]", []],
    ["##[add-matcher]/x/m.json", undefined, [["addMatcher", "/x/m.json"]]],
    ["text ##[add-matcher]m.json", "text ", [["addMatcher", "m.json"]]],
    ["::echo::on", undefined, []],
    ["::stop-commands::abc", undefined, []],
    ["::stop-commands::abcdefg", undefined, [["addMask", "abcdefg"]]],
  ])("%j prints %j", (line, expected, effects) => {
    const { printed, calls } = run([line]);
    expect(printed).toEqual([expected]);
    expect(calls).toEqual(effects);
  });

  test.each<[string, string]>([
    [
      "::error file=a.js,line=1,col=2,endColumn=3,title=T::m",
      '{"title":"T","file":"a.js","line":1,"col":2,"endColumn":3}',
    ],
    ["::error file=a,endLine=3::m", '{"file":"a","line":3,"endLine":3}'],
    ["::error line=1,endLine=2,col=1::m", '{"line":1,"endLine":2}'],
    ["::error line=3,endLine=2::m", "{}"],
    ["::error line=1,endColumn=4::m", '{"line":1,"col":4,"endColumn":4}'],
    ["::error line=1,col=5,endColumn=4::m", '{"line":1}'],
    ["::error col=5::m", "{}"],
    ["::error line=x,col=-1,file=::m", "{}"],
    ["::error line= 7 ::m", '{"line":7}'],
    ["::error line=99999999999999999999::m", "{}"],
    ["::error repo=x,matcher=y,level=debug,message=z::m", "{}"],
  ])("annotates %j", (line, expected) => {
    const place = JSON.parse(expected) as object;
    expect(run([line]).calls).toEqual([["annotate", { level: "error", message: "m", ...place }]]);
  });

  test("makes at most ten annotations of each level, of at most 4096 characters, and prints all", () => {
    const long = `${"x".repeat(4095)}\u{1F600}`;
    const lines = [...Array.from({ length: 12 }, () => "::error::e"), "::notice::n", `::warning::${long}`];
    const { printed, calls } = run(lines);
    expect(printed.at(-1)).toBe(`##[warning]${long}`);
    expect(printed.filter((line) => line === "##[error]e")).toHaveLength(12);
    expect(calls).toHaveLength(12);
    expect(calls.at(-1)).toEqual(["annotate", { level: "warning", message: "x".repeat(4095) }]);
  });

  test.each<[string, RegExp]>([
    ["::set-output::x", /Required field 'name' is missing/],
    ["::set-output name=::x", /Required field 'name' is missing/],
    ["::save-state nam=a::x", /Required field 'name' is missing/],
    ["::set-env name=a::x", /The `set-env` command is disabled.*GITHUB_ENV/],
    ["::add-path::/x", /The `add-path` command is disabled.*GITHUB_PATH/],
    ["::echo::maybe", /Invalid echo command value/],
    ["::echo::", /Invalid echo command value/],
    ["::stop-commands::", /endToken/],
    ["::stop-commands::Set-Output", /endToken/],
    ["::stop-commands::pause-logging", /endToken/],
  ])("%j fails the step", (line, expected) => {
    const { printed, calls } = run([line, "::warning::still"]);
    expect(printed[0]).toMatch(/^##\[error\]Unable to process command '.*' successfully\.\n##\[error\]/);
    expect(printed[1]).toBe("##[warning]still");
    expect(calls[0]?.[0]).toBe("problem");
    expect(calls[0]?.[1]).toMatch(expected);
  });

  test("makes a problem of what the sink throws", () => {
    const { sink, calls } = createRecorder(() => {
      throw new Error("no such file");
    });
    const { printed } = run(["##[add-matcher]m.json"], { sink });
    expect(calls).toEqual([
      ["addMatcher", "m.json"],
      ["problem", "no such file"],
    ]);
    expect(printed[0]).toContain("##[error]no such file");
  });

  test("sets variables and paths when that is allowed, and never NODE_OPTIONS", () => {
    const lines = ["::set-env name=a::b", "::add-path::/x", "::add-path::", "::set-env name=node_options::--require x"];
    const { printed, calls } = run(lines, { allowsUnsecure: true });
    const message = "Can't update NODE_OPTIONS environment variable using ::set-env:: command.";
    expect(printed.slice(0, 2)).toEqual([undefined, undefined]);
    expect(printed[3]).toBe(`##[error]${message}`);
    expect(calls).toEqual([
      ["setEnv", "a", "b"],
      ["addPath", "/x"],
      ["problem", "The path of ##[add-path] command must not be empty."],
      ["annotate", { level: "error", message }],
    ]);
  });

  test("echoes commands between echo on and echo off, and no secret", () => {
    const lines = [
      "::echo::on",
      "::set-output name=a::b",
      "::add-mask::hunter2",
      "::error::x",
      "::group::g",
      "::stop-commands::long-token",
      "::long-token::",
      "::echo::off",
      "::set-output name=a::b",
    ];
    expect(run(lines).printed).toEqual([
      undefined,
      "::set-output name=a::b",
      "::add-mask::***",
      "##[error]x",
      "::group::g\n##[group]g",
      "::stop-commands::***",
      undefined,
      "::echo::off",
      undefined,
    ]);
  });

  test("shows debug messages and commands to whoever debugs", () => {
    const { printed } = run(["::debug::a%0D%0Ab", "::save-state name=a::b"], { isDebug: true });
    expect(printed).toEqual(["##[debug]a\n##[debug]b", "::save-state name=a::b"]);
  });

  test("takes no commands between stop-commands and its token", () => {
    const lines = [
      "::stop-commands::Tok",
      "::set-output name=a::b",
      "##[error]x",
      "::stop-commands::other",
      "::other::",
      "::tok",
      "::toke::",
      "  ::TOK::resume",
      "::set-output name=c::d",
      "::tok::",
    ];
    const { printed, calls } = run(lines);
    expect(printed).toEqual([undefined, ...lines.slice(1, 7), undefined, undefined, "::tok::"]);
    expect(calls).toEqual([["setOutput", "c", "d"]]);
    expect(run(["::stop-commands::a::b", "::a::b", "##[a::b]", "::endgroup::"]).printed).toEqual([
      undefined,
      "::a::b",
      undefined,
      "##[endgroup]",
    ]);
  });

  test("never interprets what a command carries", () => {
    const { printed, calls } = run([
      "::error::x%0A::set-output name=a::b",
      "::group::x%0A::add-mask::y",
      "::set-output name=a::%0A::set-env name=b::c",
      "text ::set-output name=forged::b",
      "> ::add-mask::a",
    ]);
    expect(printed.slice(3)).toEqual(["text ::set-output name=forged::b", "> ::add-mask::a"]);
    expect(calls.map(([name]) => name)).toEqual(["annotate", "setOutput"]);
  });

  test.each(["::add-mask::", "::add-mask::  ", "::add-mask::%0A%0D"])("only warns of %j", (line) => {
    const { printed, calls } = run([line]);
    const message = "Can't add secret mask for empty string in ##[add-mask] command.";
    expect(printed).toEqual([`##[warning]${message}`]);
    expect(calls).toEqual([["annotate", { level: "warning", message }]]);
  });

  test.each(["::add-matcher::", "::remove-matcher::", "::remove-matcher owner=a::b"])("only warns of %j", (line) => {
    const { printed, calls } = run([line]);
    expect(printed[0]).toMatch(/^##\[warning\]/);
    expect(calls.map(([name]) => name)).toEqual(["annotate"]);
  });

  test("matches problems on lines that are no commands, until the matcher is removed", () => {
    const matchers = new ProblemMatchers();
    matchers.add(MATCHER, "m.json");
    const lines = ["W: a", "\u001B[31mW: b\u001B[0m", "::error::W: c", "::stop-commands::t", "W: d", "::t::"];
    const { printed, calls } = run([...lines, "##[remove-matcher owner=TOOL]", "W: e"], { matchers });
    expect(printed).toEqual([
      "##[warning]W: a",
      "##[warning]W: b",
      "##[error]W: c",
      undefined,
      "##[warning]W: d",
      undefined,
      undefined,
      "W: e",
    ]);
    expect(calls.map(([, annotation]) => (annotation as { message: string }).message)).toEqual(["a", "b", "W: c", "d"]);
    matchers.add(MATCHER, "m.json");
    expect(run(["W: a", "::remove-matcher::m.json", "W: a"], { matchers }).printed).toEqual([
      "##[warning]W: a",
      undefined,
      "W: a",
    ]);
  });

  test("marks groups as sections of GitLab, one at a time", () => {
    const { printed, interpreter } = run(
      [
        "::endgroup::",
        "::group::one%0D%0Atwo %1B[0K",
        "::group::\u001B[31mthree",
        "::endgroup::",
        "::endgroup::",
        "::group::last",
      ],
      { groupStyle: "gitlab" },
    );
    const name = "(action_group_[0-9a-f]{16})";
    const pattern = (text: string): RegExp => new RegExp(`^${text}$`);
    expect(printed[0]).toBeUndefined();
    expect(printed[1]).toMatch(
      pattern(`section_start:1700000000:${name}\\[collapsed=true\\]\r\u001B\\[0Kone two %1B\\[0K`),
    );
    expect(printed[2]).toMatch(
      pattern(
        `section_end:1700000000:${name}\r\u001B\\[0Ksection_start:1700000000:${name}\\[collapsed=true\\]\r\u001B\\[0K\u001B\\[31mthree`,
      ),
    );
    expect(printed[3]).toMatch(pattern(`section_end:1700000000:${name}\r\u001B\\[0K`));
    expect(printed[4]).toBeUndefined();
    const opened = new RegExp(name).exec(printed[5] ?? "")?.[1];
    expect(interpreter.close()).toBe(`section_end:1700000000:${opened}\r\u001B[0K`);
    expect(interpreter.close()).toBeUndefined();
    const names = printed.flatMap((line) =>
      [...(line ?? "").matchAll(/section_start:\d+:(\w+)/g)].map(([, found]) => found),
    );
    expect(new Set(names).size).toBe(3);
  });
});
