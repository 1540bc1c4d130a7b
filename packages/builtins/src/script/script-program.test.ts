import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { beforeAll, describe, expect, test } from "vitest";
import { posixProgram, type ScriptProgram } from "./posix-program.ts";
import { pwshProgram } from "./pwsh-program.ts";

const PLAIN: ScriptProgram = {
  commands: [],
  isEchoed: true,
  isTraced: false,
  checksErrors: false,
  hasSections: false,
  needsStepRunner: false,
  failureWarning: "",
};

let directory: string;
beforeAll(() => {
  directory = tempDir();
  const program = '#!/bin/sh\necho "step-runner got $# arguments: $*"\n';
  writeFileSync(join(directory, "step-runner"), program, { mode: 0o755 });
});

interface Ended {
  readonly code: number | null;
  readonly lines: readonly string[];
  readonly stderr: string;
}

function runText(shell: readonly string[], text: string, env: Readonly<Record<string, string>> = {}): Ended {
  const [command = "", ...args] = shell;
  const { status, stdout, stderr } = spawnSync(command, [...args, text], {
    cwd: directory,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: `${directory}:${process.env["PATH"] ?? ""}`, LC_ALL: "C.UTF-8", GITLAB_ENV: "", ...env },
  });
  return { code: status, lines: stdout.split("\n").slice(0, -1), stderr };
}

function run(shell: readonly string[], program: Partial<ScriptProgram>, env?: Readonly<Record<string, string>>): Ended {
  return runText(shell, posixProgram({ ...PLAIN, ...program }), env);
}

describe.each([
  ["bash", ["bash", "-o", "errexit", "-c"]],
  ["bash --posix", ["bash", "--posix", "-c"]],
  ["dash", ["dash", "-o", "errexit", "-c"]],
] as const)("posixProgram() in %s", (_, shell) => {
  test("shows each command and runs them in one shell", () => {
    const commands = ["cd /", "X='a b'", 'greet() { echo "hi $X"; }', "pwd; greet"];
    const { code, lines } = run(shell, { commands });
    expect({ code, lines }).toEqual({
      code: 0,
      lines: ["$ cd /", "$ X='a b'", '$ greet() { echo "hi $X"; }', "$ pwd; greet", "/", "hi a b"],
    });
    expect(run(shell, { commands, isEchoed: false }).lines).toEqual(["/", "hi a b"]);
  });

  test("shows the first line of a longer command, and an empty line for none", () => {
    const { lines } = run(shell, { commands: ["\n  if true\nthen echo yes\nfi\n", "  ", "cat <<EOF\nheld\nEOF"] });
    expect(lines).toEqual([
      "$ if true # collapsed multi-line command",
      "yes",
      "",
      "$ cat <<EOF # collapsed multi-line command",
      "held",
    ]);
  });

  test("makes sections of longer commands where that is asked for", () => {
    const { lines } = run(shell, { commands: ["echo 1\necho 2"], hasSections: true });
    const text = lines.join("\n").replaceAll("\u001b[0K", "").replaceAll(/:\d+:/g, ":N:");
    expect(text).toBe(
      "section_start:N:script_step_0[hide_duration=true,collapsed=true]\r$ echo 1 # collapsed multi-line command\n1\n2\nsection_end:N:script_step_0\r",
    );
  });

  test("shows a command that is full of quotes, escapes and formats as it is written", () => {
    const command = String.raw`: '%s\n' "\033[0m" $'\x41' ` + "`true`" + String.raw` $(true) \\ %d`;
    expect(run(shell, { commands: [command] }).lines).toEqual([`$ ${command}`]);
  });

  test("ends with the code of the first failing command", () => {
    const { code, lines } = run(shell, { commands: ["echo one", "(exit 7)", "echo two"] });
    expect({ code, lines }).toEqual({ code: 7, lines: ["$ echo one", "one", "$ (exit 7)"] });
  });

  test("gives each command a clean $?, and fails with the last one also when errexit excuses it", () => {
    expect(run(shell, { commands: ["false || true", "echo $?"] }).lines.at(-1)).toBe("0");
    expect(run(shell, { commands: ["false && true"] }).code).toBe(1);
  });

  test("looks at the status of each command where that is asked for", () => {
    const commands = ["set +e", "(exit 5)", "echo on"];
    expect(run(shell, { commands }).code).toBe(0);
    expect(run(shell, { commands, checksErrors: true }).code).toBe(5);
  });

  test("ends with its traps when it is told to", () => {
    const { code, lines } = run(shell, { commands: ["trap 'echo bye' EXIT", "kill -TERM $$", "echo on"] });
    expect({ code, last: lines.at(-1) }).toEqual({ code: 1, last: "bye" });
  });

  test("has what earlier scripts wrote to $GITLAB_ENV, and passes over what is no variable", () => {
    const file = join(tempDir(), "gitlab_runner_env");
    writeFileSync(file, "  FIRST=one two=2  \n\nnothing\nA-B=1\nLAST=$HOME");
    const { lines } = run(shell, { commands: ['echo "$FIRST|$LAST"'] }, { GITLAB_ENV: file });
    expect(lines.at(-1)).toBe("one two=2|$HOME");
  });

  test("says that it failed where that is asked for, with the same code", () => {
    const failureWarning = "after_script failed, but it's ignored";
    const program = { commands: ["exit 9", "echo unreachable"], failureWarning };
    expect(run(shell, program)).toEqual({
      code: 9,
      lines: ["$ exit 9"],
      stderr: "WARNING: after_script failed, but it's ignored: exit code 9\n",
    });
    expect(run(shell, { ...program, commands: ["echo 'open"] }).stderr).toContain("WARNING: after_script failed");
    expect(run(shell, { ...program, commands: ["false", "echo on"] }).lines).toEqual(["$ false"]);
    expect(run(shell, { ...program, commands: ["true"] })).toEqual({ code: 0, lines: ["$ true"], stderr: "" });
  });

  test("finds /step-runner where there is no such file", () => {
    const commands = ["/step-runner ci", 'if true; then /step-runner "a b" c | cat; fi'];
    const { code, lines } = run(shell, { commands, needsStepRunner: true });
    expect(code).toBe(0);
    expect(lines.filter((line) => line.startsWith("step-runner"))).toEqual([
      "step-runner got 1 arguments: ci",
      "step-runner got 2 arguments: a b c",
    ]);
  });

  test("prints commands as they are run where that is asked for", () => {
    expect(run(shell, { commands: ["A=1", "echo $A"], isTraced: true }).stderr).toContain("+ echo 1\n");
  });

  test.each(["", "'", "''", "a'b", "\\", '$x `y` "z"', "!"])("shows %j as it is", (text) => {
    expect(run(shell, { commands: [`: <<'EOF'\n${text}\nEOF`, `true # ${text}`.trim()] }).lines.at(-1)).toBe(
      `$ true # ${text}`.trim(),
    );
  });
});

describe("posixProgram() in bash", () => {
  test("fails with the first failing part of a pipe", () => {
    expect(run(["bash", "-c"], { commands: ["false | true", "echo unreachable"] }).lines).toEqual(["$ false | true"]);
  });

  test("works under options that a caller may have set", () => {
    const shell = ["bash", "-euo", "pipefail", "-c"];
    expect(run(shell, { commands: ["exit 2"], needsStepRunner: true, failureWarning: "x" }).code).toBe(2);
  });

  test("shows commands in green on a terminal", () => {
    const text = posixProgram({ ...PLAIN, commands: ["echo hi"] });
    // The test stands in for the terminal by making the question's answer yes.
    const { lines } = runText(["bash", "-c"], text.replace("[ -t 1 ]", "true"));
    expect(lines).toEqual(["\u001b[32;1m$ echo hi\u001b[0;m", "hi"]);
  });
});

// No PowerShell can be installed where the tests run: the text is looked at.
describe("pwshProgram()", () => {
  test("shows each command, and ends with the code of the first that fails", () => {
    const commands = ["echo 'it’s'", "", "if ($true) {\n  exe\n}"];
    expect(
      pwshProgram({ ...PLAIN, commands })
        .split("\n")
        .slice(10, -6),
    ).toEqual([
      "Write-Host ($__steps_line -f '$ echo ''it’’s''')",
      "echo 'it’s'",
      "if (-not $?) { $__steps_code = if ($LASTEXITCODE) { $LASTEXITCODE } else { 1 }; exit $__steps_code }",
      "Write-Host",
      "Write-Host ($__steps_line -f '$ if ($true) { # collapsed multi-line command')",
      "if ($true) {",
      "  exe",
      "}",
      "if (-not $?) { $__steps_code = if ($LASTEXITCODE) { $LASTEXITCODE } else { 1 }; exit $__steps_code }",
    ]);
  });

  test("traces, warns and reads $GITLAB_ENV where that is asked for", () => {
    const text = pwshProgram({ ...PLAIN, commands: ["a\nb"], isTraced: true, hasSections: true, failureWarning: "w" });
    expect(text).toContain("Get-Content -LiteralPath $env:GITLAB_ENV");
    expect(text).toContain("\nSet-PSDebug -Trace 2\n");
    expect(text).toContain("[Console]::Error.WriteLine('WARNING: {0}: exit code {1}' -f 'w', $__steps_code); exit");
    expect(text).toContain("section_start:{1}:script_step_0[hide_duration=true,collapsed=true]{2}{0}[0K'");
  });
});
