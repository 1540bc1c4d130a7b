import { describe, expect, test } from "vitest";
import { type Diagnostic, formatDiagnostic, hasErrors, nearest } from "./diagnostic.ts";
import { positionAt } from "./position.ts";

const source = { name: "func.yml", text: "spec:\n  inptus: {}\n" };
const diagnostic: Diagnostic = {
  severity: "error",
  code: "unknown-key",
  message: 'Unknown key "inptus"',
  position: positionAt(source, 8, 6),
  hint: 'Did you mean "inputs"?',
};

describe("formatDiagnostic()", () => {
  test("writes the place, the message, the frame and the hint", () => {
    expect(formatDiagnostic(diagnostic)).toBe(
      [
        'func.yml:2:3: error: Unknown key "inptus" [unknown-key]',
        "  1 | spec:",
        "> 2 |   inptus: {}",
        "    |   ^^^^^^",
        '  hint: Did you mean "inputs"?',
      ].join("\n"),
    );
  });

  test("writes one line when there is no place", () => {
    expect(formatDiagnostic({ severity: "note", code: "a", message: "B" })).toBe("note: B [a]");
  });

  test("cannot drive a terminal, nor forge a line", () => {
    const text = formatDiagnostic({
      severity: "warning",
      code: "a",
      message: "x\u001b[2J\nfunc.yml:1:1: error: y",
      hint: "\u0007",
    });
    expect(text).toBe("warning: x\uFFFD[2J\uFFFDfunc.yml:1:1: error: y [a]\n  hint: \uFFFD");
  });
});

describe("hasErrors()", () => {
  test("is about errors only", () => {
    expect(hasErrors([])).toBe(false);
    expect(
      hasErrors([
        { ...diagnostic, severity: "warning" },
        { ...diagnostic, severity: "note" },
      ]),
    ).toBe(false);
    expect(hasErrors([{ ...diagnostic, severity: "warning" }, diagnostic])).toBe(true);
  });
});

describe("nearest()", () => {
  const keys = ["inputs", "outputs", "work_dir", "command", "env"];
  test.each([
    ["inptus", "inputs"],
    ["input", "inputs"],
    ["INPUTS", "inputs"],
    ["wokr_dir", "work_dir"],
    ["workdir", "work_dir"],
    ["ouptuts", "outputs"],
    ["evn", "env"],
    ["comand", "command"],
    ["env", "env"],
    ["xyz", undefined],
    ["something", undefined],
    ["", undefined],
  ])("to %j is %j", (written, expected) => {
    expect(nearest(written, keys)).toBe(expected);
  });

  test("takes the nearest, and the first of equally near ones", () => {
    expect(nearest("name", ["game", "same", "named"])).toBe("game");
    expect(nearest("names", ["game", "name"])).toBe("name");
    expect(nearest("a", [])).toBeUndefined();
  });

  test("does little for very long names", () => {
    const long = "a".repeat(1_000_000);
    expect(nearest(long, [`${long}b`, "b"])).toBe(`${long}b`);
  });
});
