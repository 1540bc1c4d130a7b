import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ShellError } from "./shell-error.ts";
import { parseShell } from "./parse-shell.ts";

const LINUX = { hasBash: true, platform: "linux" };
const WINDOWS = { hasBash: true, platform: "win32" };
const LAST_EXIT_CODE = "if ((Test-Path -LiteralPath variable:\\LASTEXITCODE)) { exit $LASTEXITCODE }";

describe("parseShell()", () => {
  test.each<[string | undefined, string[], string]>([
    [undefined, ["bash", "-e", "{0}"], ".sh"],
    ["", ["bash", "-e", "{0}"], ".sh"],
    ["bash", ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "{0}"], ".sh"],
    [" BASH ", ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "{0}"], ".sh"],
    ["sh", ["sh", "-e", "{0}"], ".sh"],
    ["python", ["python", "{0}"], ".py"],
    ["bash {0}", ["bash", "{0}"], ".sh"],
    ["bash -x  {0} a", ["bash", "-x", "{0}", "a"], ".sh"],
    ["python -u {0}", ["python", "-u", "{0}"], ".py"],
    ["perl {0}", ["perl", "{0}"], ""],
    ["/usr/bin/bash {0}", ["/usr/bin/bash", "{0}"], ""],
    ["cp {0} action.yml", ["cp", "{0}", "action.yml"], ""],
    ["mv {0} Dockerfile", ["mv", "{0}", "Dockerfile"], ""],
    ["env X={0} {0} {0}", ["env", "X={0}", "{0}", "{0}"], ""],
    ["node -e \"run('{0}')\" x", ["node", "-e", "run('{0}')", "x"], ""],
    ['sh -c ". \\"{0}\\""', ["sh", "-c", '. "{0}"'], ".sh"],
    ['sh -c \\\\"a {0}"', ["sh", "-c", "\\a {0}"], ".sh"],
    ['p "" {0} a\\b\\', ["p", "", "{0}", "a\\b\\"], ""],
    ["p '{0} x'", ["p", "'{0}", "x'"], ""],
    ["awk {{print}} {0}", ["awk", "{print}", "{0}"], ""],
  ])("of %j runs %j", (shell, command, extension) => {
    expect(parseShell(shell, LINUX)).toEqual({ command, extension, prepend: "", append: "", lineEnd: "\n" });
  });

  test("falls back to sh, and to PowerShell on Windows", () => {
    expect(parseShell(undefined, { hasBash: false, platform: "linux" }).command).toEqual(["sh", "-e", "{0}"]);
    expect(parseShell(undefined, WINDOWS).command[0]).toBe("pwsh");
    expect(parseShell(undefined, { ...WINDOWS, hasPwsh: false }).command[0]).toBe("powershell");
  });

  test("stops PowerShell at errors and hands on the last exit code", () => {
    for (const shell of ["pwsh", "powershell"]) {
      expect(parseShell(shell, LINUX)).toEqual({
        command: [shell, "-command", ". '{0}'"],
        extension: ".ps1",
        prepend: "$ErrorActionPreference = 'stop'\n",
        append: `\n${LAST_EXIT_CODE}`,
        lineEnd: "\n",
      });
    }
    expect(parseShell("pwsh -NoProfile -File {0}", WINDOWS)).toMatchObject({
      command: ["pwsh", "-NoProfile", "-File", "{0}"],
      extension: ".ps1",
      append: `\r\n${LAST_EXIT_CODE}`,
    });
  });

  test("turns off the echo of cmd", () => {
    expect(parseShell("cmd", WINDOWS)).toEqual({
      command: ["cmd", "/D", "/E:ON", "/V:OFF", "/S", "/C", '"CALL "{0}""'],
      extension: ".cmd",
      prepend: "@echo off\r\n",
      append: "",
      lineEnd: "\r\n",
    });
  });

  test.each([
    "zsh",
    "/bin/bash",
    "bash -x",
    "perl {1}",
    "perl {0} {1}",
    "perl {0",
    "perl {0} }",
    "perl {{0}}",
    "p {0} {{0}}",
    "{0}",
    "p {0:x} {0}",
  ])("refuses %j", (shell) => {
    expect(() => parseShell(shell, LINUX)).toThrow(ShellError);
  });

  test("throws nothing but its error, and has a place for the script otherwise", () => {
    const words = fc.constantFrom("a", " ", '"', "\\", "{0}", "{", "}", "'", "bash");
    fc.assert(
      fc.property(fc.array(words, { maxLength: 20 }), (parts) => {
        try {
          expect(parseShell(parts.join(""), LINUX).command.join(" ")).toContain("{0}");
        } catch (error) {
          expect(error).toBeInstanceOf(ShellError);
        }
      }),
      { numRuns: 1000 },
    );
    expect(parseShell(`p {0} ${"\\".repeat(1 << 20)}`, LINUX).command).toHaveLength(3);
  });
});
